"""The filter and the smoother of the streaming recursion, on the few observations that it holds.

What is known of state i at these times lies side by side, in rows; there are at least four rows.
With up to four states all that goes on from one time to the next stays in variables, see
`rhmm.inference.few_states`: states that are not there have probability 0.
"""

from rhmm._jit import lean_kernel
from rhmm.inference.few_states import (
    FEW,
    added,
    dot_of,
    four_of,
    four_ones,
    four_rows,
    product_of,
    scaled,
    sum_of,
    transposed,
)
from rhmm.streams.chunk import start_law
from rhmm.vector_math import dot

FAINT, _SMALL = 1e-30, 1e-100
"""What goes on is scaled up when its sum falls below the first, what goes back below the second."""


@lean_kernel
def filter_group(transmat, density, starts, first, held, size, latest, alpha, scale, law):
    """Filter so many observations: the first is `first` in `starts`, and `held` in the rows of
    `density` and `alpha`, both (max(N, 4), 2ℓ).

    `latest` (N,) are the filtered probabilities so far, up to a factor as in `alpha`, and become
    those after the last observation: no step waits for a division. ``scale[u]`` is
    p(y | all before). `law` (N,) is working memory.
    """
    if len(latest) > FEW:
        _filter_many(transmat, density, starts, first, held, size, latest, alpha, scale, law)
        return
    p0, p1, p2, p3 = density[0], density[1], density[2], density[3]
    a0, a1, a2, a3 = alpha[0], alpha[1], alpha[2], alpha[3]
    ahead, now = four_rows(transmat), four_of(latest)
    before = sum_of(now)
    for u in range(held, held + size):
        predicted = product_of(now, ahead)
        if starts[first - held + u]:
            start_law(transmat, law)
            predicted, before = four_of(law), 1.0
        now = (
            predicted[0] * p0[u], predicted[1] * p1[u], predicted[2] * p2[u], predicted[3] * p3[u]
        )  # fmt: skip
        total = sum_of(now)
        scale[u - held] = total / before
        if total < FAINT:
            now = scaled(now, 1.0 / total)
            total = sum_of(now)
        before = total
        a0[u], a1[u], a2[u], a3[u] = now[0], now[1], now[2], now[3]
    for j in range(len(latest)):
        latest[j] = alpha[j, held + size - 1]


@lean_kernel
def _filter_many(transmat, density, starts, first, held, size, latest, alpha, scale, law):
    n, before = len(latest), 0.0
    for j in range(n):
        before += latest[j]
    for u in range(held, held + size):
        total = 0.0
        if starts[first - held + u]:
            start_law(transmat, law)
            before = 1.0
        else:
            for j in range(n):
                law[j] = 0.0
                for i in range(n):
                    law[j] += latest[i] * transmat[i, j]
        for j in range(n):
            latest[j] = law[j] * density[j, u]
            total += latest[j]
        scale[u - held], before = total / before, total
        if total < FAINT:
            before = 0.0
            for j in range(n):
                latest[j] /= total
                before += latest[j]
        for j in range(n):
            alpha[j, u] = latest[j]


@lean_kernel
def smooth_group(transmat, alpha, density, missing, starts, begin, gamma, pair, later, work):
    """Back over all that is held: γ of the older half, ``gamma[i, t]``, and the sum of its ζ,
    ``pair[i, j]``; 0 where an observation is missing.

    What comes after the end of a sequence says nothing about it. `gamma` has max(N, 4) rows of ℓ
    entries, `pair` as many rows and columns. `later` (2, N, ℓ) and `work` (2 or more, N) are
    working memory.
    """
    n = len(transmat)
    if n > FEW:
        _go_back_with_many(transmat, density, starts, begin, later[0], later[1], work[0], work[1])
        _join(alpha, missing, begin, later[0], later[1], gamma, pair)
    else:
        _smooth_few(transmat, alpha, density, missing, starts, begin, gamma, pair)
    for i in range(n):
        for j in range(n):
            pair[i, j] *= transmat[i, j]


@lean_kernel
def _smooth_few(transmat, alpha, density, missing, starts, begin, gamma, pair):
    """Going back, `mass` and `v` are β_t(i) and the density of all that follows given s_{t+1} = j,
    both up to a factor. The sum of ζ is without its factor A_ij until the end."""
    lag = gamma.shape[1]
    last = 2 * lag - 1
    a0, a1, a2, a3 = alpha[0], alpha[1], alpha[2], alpha[3]
    p0, p1, p2, p3 = density[0], density[1], density[2], density[3]
    g0, g1, g2, g3 = gamma[0], gamma[1], gamma[2], gamma[3]
    back, v = transposed(four_rows(transmat)), (p0[last], p1[last], p2[last], p3[last])
    nothing = (0.0, 0.0, 0.0, 0.0)
    z = (nothing, nothing, nothing, nothing)
    for t in range(last - 1, -1, -1):
        mass = product_of(v, back)
        if starts[begin + t + 1]:
            mass, v = four_ones(len(transmat)), nothing
        if t < lag:
            now = (a0[t], a1[t], a2[t], a3[t])
            inverse = 0.0 if missing[begin + t] else 1.0 / dot_of(now, mass)
            shares = scaled(now, inverse)
            g0[t], g1[t] = shares[0] * mass[0], shares[1] * mass[1]
            g2[t], g3[t] = shares[2] * mass[2], shares[3] * mass[3]
            z = (
                added(z[0], shares[0], v),
                added(z[1], shares[1], v),
                added(z[2], shares[2], v),
                added(z[3], shares[3], v),
            )
        v = (p0[t] * mass[0], p1[t] * mass[1], p2[t] * mass[2], p3[t] * mass[3])
        size = sum_of(v)
        if size < _SMALL:
            v = scaled(v, 1.0 / size)
    for j in range(FEW):
        pair[0, j], pair[1, j], pair[2, j], pair[3, j] = z[0][j], z[1][j], z[2][j], z[3][j]


@lean_kernel
def _join(alpha, missing, begin, beta, ahead, gamma, pair):
    n, lag = beta.shape
    for t in range(lag):
        total = 0.0
        for i in range(n):
            total += alpha[i, t] * beta[i, t]
        inverse = 0.0 if missing[begin + t] else 1.0 / total
        for i in range(n):
            share = alpha[i, t] * inverse
            gamma[i, t] = share * beta[i, t]
            beta[i, t] = share
    for i in range(n):
        for j in range(n):
            pair[i, j] = dot(beta[i], ahead[j], lag)


@lean_kernel
def _go_back_with_many(transmat, density, starts, begin, beta, ahead, v, mass):
    """`mass` and `v` of `_smooth_few` for the older half, in ``beta[i, t]`` and ``ahead[j, t]``."""
    n, lag = len(transmat), beta.shape[1]
    for i in range(n):
        v[i] = density[i, 2 * lag - 1]
    for t in range(2 * lag - 2, -1, -1):
        size = 0.0
        for i in range(n):
            mass[i] = 0.0
            for j in range(n):
                mass[i] += transmat[i, j] * v[j]
        if starts[begin + t + 1]:
            for i in range(n):
                mass[i], v[i] = 1.0, 0.0
        if t < lag:
            for i in range(n):
                beta[i, t], ahead[i, t] = mass[i], v[i]
        for i in range(n):
            v[i] = density[i, t] * mass[i]
            size += v[i]
        if size < _SMALL:
            for i in range(n):
                v[i] /= size
