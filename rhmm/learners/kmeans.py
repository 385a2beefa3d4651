"""Riemannian K-means, which knows neither the chain nor the widths of the states."""

import numpy as np
from sklearn.base import ClusterMixin

from rhmm.clustering import best_clusters, nearest
from rhmm.estimator import Estimator, check_components
from rhmm.learners.em import RiemannianHMM
from rhmm.learners.learner import Learner
from rhmm.manifolds import Manifold
from rhmm.parameters import Parameters, floor_of_sigma, parameters_from_labels
from rhmm.validation import as_generator, check_integer, check_lengths, check_number


class RiemannianKMeans(ClusterMixin, Estimator):
    """Cluster points of a manifold around `n_clusters` Riemannian centres of mass.

    The best of `n_init` starts is kept: a single start often puts two centres in one cluster.

    A cluster that empties takes the point furthest from its own centre. With fewer distinct points
    than clusters the surplus clusters stay empty, their centres on top of others, with a warning.

    After `fit`: `cluster_centers_` (K, *point_shape), `labels_` (T,) with −1 for a missing point,
    `inertia_` (Σ d² to the own centre), `n_iter_`, `converged_`, `peak_nbytes_`.
    """

    def __init__(
        self,
        manifold: Manifold,
        n_clusters: int,
        *,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state=None,
    ):
        self.manifold = manifold
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def check_options(self) -> None:
        """Raise a ValueError that names the first wrong argument of the constructor."""
        super().check_options()
        check_components("n_clusters", self.n_clusters)
        check_integer("n_init", self.n_init, at_least=1)
        check_integer("max_iter", self.max_iter, at_least=1)
        check_number("tol", self.tol, at_least=0.0)

    def fit(self, X, y=None, *, lengths=None) -> "RiemannianKMeans":
        """Find the clusters of X, shape (T, *point_shape); `y` is ignored.

        `lengths` are the sizes of the sequences in X, between which `to_hmm` counts no transition;
        None if it is one.
        """
        self.check_options()
        X, observed = self.manifold.observations("X", X)
        self._lengths = check_lengths(lengths, len(X))
        points = X[observed]
        if len(points) < self.n_clusters:
            raise ValueError(
                f"X must hold at least n_clusters={self.n_clusters} observations, not {len(points)}"
            )
        rng = as_generator("random_state", self.random_state)
        best = best_clusters(
            self.manifold, points, self.n_clusters, rng,
            n_init=self.n_init, max_iter=self.max_iter, tol=self.tol,
        )  # fmt: skip
        self.cluster_centers_ = best.centres
        self.labels_ = np.full(len(X), -1)
        self.labels_[observed] = best.labels
        self.inertia_ = best.inertia
        self.n_iter_ = best.n_iter
        self.converged_ = best.converged
        self.peak_nbytes_ = X.nbytes + self.n_clusters * len(X) * 8
        """Bytes that K-means holds at once: the observations and their d² to every centre."""
        self._d2 = best.d2
        self._min_sigma = floor_of_sigma(self.manifold, points, None)
        return self

    def predict(self, X) -> np.ndarray:
        """The nearest centre of every point, shape (T,); −1 where it is missing (NaN)."""
        self._check_fitted()
        X, observed = self.manifold.observations("X", X)
        labels = np.full(len(X), -1)
        d2 = self.manifold.squared_distances(X[observed], self.cluster_centers_)
        labels[observed] = nearest(d2)[0]
        return labels

    def _check_fitted(self) -> None:
        if not hasattr(self, "cluster_centers_"):
            raise self._not_fitted()

    def to_parameters(self, lengths=None, min_sigma: float | None = None) -> Parameters:
        """The paper's start of an HMM, from the clusters of the points given to `fit`.

        `lengths` are the sizes of the sequences that these points are; None if they are one.
        `min_sigma` is the floor of every σ_i, as for `RiemannianHMM`.
        """
        self._check_fitted()
        self.manifold.check_min_sigma(min_sigma)
        observed = self.labels_ >= 0
        lengths = check_lengths(lengths, len(observed))
        return parameters_from_labels(
            self.manifold,
            self.labels_[observed],
            observed,
            np.cumsum(lengths),
            self.cluster_centers_,
            self._d2,
            self._min_sigma if min_sigma is None else float(min_sigma),
        )

    def to_hmm(self) -> RiemannianHMM:
        """The model of `to_parameters`, for the sequences given to `fit`."""
        self._check_fitted()
        parameters = self.to_parameters(self._lengths)
        return RiemannianHMM.from_parameters(self.manifold, *parameters)


LEARNER = Learner(
    key="kmeans",
    label="K-means",
    about="Each point goes to the nearest of N centres. It holds all data, and knows no chain.",
    estimator=RiemannianKMeans,
)
