"""The truth about tiny chains: every path is listed and weighed, on logarithms; nothing is clever.

Distances and normalising factors are written here a second time, by textbook formulas and plain
quadrature, so that no test of a posterior trusts the code it tests.
"""

import math
from itertools import product

import numpy as np
from scipy.linalg import eigvalsh
from scipy.special import logsumexp

from rhmm import SPD, Euclidean, Hyperbolic, RiemannianHMM


def log(probabilities) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def weigh_paths(start, transition, log_density) -> tuple[np.ndarray, np.ndarray]:
    """Every path through the states, and log p(path, observations) of each."""
    log_density = np.nan_to_num(log_density, nan=0.0, neginf=-np.inf)
    size, n = log_density.shape
    paths = np.array(list(product(range(n), repeat=size)))
    weights = log(start)[paths[:, 0]] + log_density[np.arange(size), paths].sum(axis=1)
    return paths, weights + log(transition)[paths[:, :-1], paths[:, 1:]].sum(axis=1)


def log_likelihood(start, transition, log_density) -> float:
    return logsumexp(weigh_paths(start, transition, log_density)[1]) if len(log_density) else 0.0


def smoother(start, transition, log_density) -> np.ndarray:
    """P(s_t = i | all observations)."""
    paths, weights = weigh_paths(start, transition, log_density)
    share = np.exp(weights - logsumexp(weights))
    states = np.arange(len(start))
    return np.einsum("p,pti->ti", share, paths[:, :, None] == states)


def pairs(start, transition, log_density) -> np.ndarray:
    """P(s_t = i, s_{t+1} = j | all observations); zero at the last time."""
    paths, weights = weigh_paths(start, transition, log_density)
    share = np.exp(weights - logsumexp(weights))
    is_state = (paths[:, :, None] == np.arange(len(start))).astype(float)
    zeta = np.zeros((*log_density.shape, len(start)))
    zeta[:-1] = np.einsum("p,pti,ptj->tij", share, is_state[:, :-1], is_state[:, 1:])
    return zeta


def fixed_lag(start, transition, log_density, lag) -> np.ndarray:
    """P(s_t = i | observations up to t + lag): the smoother of a chain that ends there."""
    size = len(log_density)
    return np.array(
        [smoother(start, transition, log_density[: t + lag + 1])[t] for t in range(size)]
    )


def log_beta(start, transition, log_density) -> np.ndarray:
    """log p(y_{t+1}..y_T | s_t = i): the likelihood of a chain that starts with row i of A."""
    return np.array(
        [
            [
                log_likelihood(row, transition, log_density[t + 1 :])
                for row in np.asarray(transition)
            ]
            for t in range(len(log_density))
        ]
    )


def best_weight(start, transition, log_density) -> float:
    return weigh_paths(start, transition, log_density)[1].max()


def weight_of(path, start, transition, log_density) -> float:
    paths, weights = weigh_paths(start, transition, log_density)
    return weights[(paths == path).all(axis=1)].item()


def each_sequence(function, start, transition, log_density, lengths, *more) -> list:
    """`function` of every sequence on its own."""
    pieces = np.split(log_density, np.cumsum(lengths)[:-1])
    return [function(start, transition, piece, *more) for piece in pieces]


# Riemannian Gaussians, a second time


def squared_distance(manifold, x, y) -> float:
    if isinstance(manifold, Euclidean):
        return ((x - y) ** 2).sum()
    if isinstance(manifold, Hyperbolic):
        return np.arccosh(1 + 2 * ((x - y) @ (x - y)) / ((1 - x @ x) * (1 - y @ y))) ** 2
    return (np.log(eigvalsh(x, y)) ** 2).sum()


def normaliser(manifold, sigma) -> float:
    """Z(σ) = ∫ exp(−d²/2σ²) dvolume in polar coordinates, on Gauss–Legendre nodes."""
    nodes, weights = np.polynomial.legendre.leggauss(120)
    r, weights = 10 * sigma * (nodes + 1), 10 * sigma * weights  # from 0 to 20σ
    if isinstance(manifold, Euclidean):
        return (2 * math.pi * sigma**2) ** (manifold.dim / 2)
    if isinstance(manifold, Hyperbolic):
        sphere = 2 * math.pi ** (manifold.dim / 2) / math.gamma(manifold.dim / 2)
        radial = np.exp(-(r**2) / (2 * sigma**2)) * np.sinh(r) ** (manifold.dim - 1)
        return sphere * (weights @ radial)
    # Gaps a and b between the ordered eigenvalues of log y; their sum is a plain Gaussian.
    if manifold.size == 2:
        gaps = weights @ (np.exp(-(r**2) / (4 * sigma**2)) * np.sinh(r / 2))
        return math.pi * 8**0.5 / 2 * math.sqrt(4 * math.pi) * sigma * gaps
    a, b = r[:, None], r[None, :]
    gaps = np.exp(-(a**2 + a * b + b**2) / (3 * sigma**2))
    gaps = weights @ (gaps * np.sinh(a / 2) * np.sinh(b / 2) * np.sinh((a + b) / 2)) @ weights
    return 2 * math.pi**2 * 8**1.5 / 3 * math.sqrt(6 * math.pi) * sigma * gaps


def log_density(model: RiemannianHMM, X) -> np.ndarray:
    """log p(y_t; c_i, σ_i); a row of NaN where y_t is missing."""
    log_z = [math.log(normaliser(model.manifold, sigma)) for sigma in model.sigmas_]
    d2 = np.full((len(X), model.n_components), np.nan)
    for t, i in np.ndindex(d2.shape):
        if not np.isnan(X[t]).any():
            d2[t, i] = squared_distance(model.manifold, X[t], model.means_[i])
    return -d2 / (2 * model.sigmas_**2) - log_z


MANIFOLDS = [Euclidean(1), Euclidean(3), Hyperbolic(2), Hyperbolic(3), SPD(2), SPD(3)]


def in_a_row(manifold, distances) -> np.ndarray:
    """Points on one geodesic, at these signed distances from the origin."""
    origin = np.eye(manifold.size) if isinstance(manifold, SPD) else np.zeros(manifold.dim)
    points = np.tile(origin, (len(distances), *(1,) * origin.ndim))
    if isinstance(manifold, SPD):
        points[:, 0, 0] = np.exp(distances)
    else:
        points[:, 0] = (
            np.tanh(np.divide(distances, 2)) if manifold.name == "Hyperbolic" else distances
        )
    return points


def random_model(manifold, n, rng) -> RiemannianHMM:
    """A model whose states overlap."""
    return RiemannianHMM.from_parameters(
        manifold,
        rng.dirichlet(np.ones(n)),
        rng.dirichlet(np.ones(n), size=n),
        manifold.sample(in_a_row(manifold, [0.0])[0], 0.8, n, rng),
        rng.uniform(0.3, 1.2, n),
    )


def with_gaps(X, share, rng) -> np.ndarray:
    """X with a share of its observations missing, but never the first."""
    X = X.copy()
    gaps = rng.random(len(X)) < share
    gaps[0] = False
    X[gaps] = np.nan
    return X


def steps_of(sample) -> np.ndarray:
    """The times of a sample of sequences that have a next one in the same sequence."""
    return np.delete(np.arange(len(sample.points)), sample.ends - 1)
