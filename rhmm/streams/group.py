"""The filter and the smoother of the streaming recursion, on the few observations that it holds.

With up to four states all that goes on from one time to the next stays in variables, see
`rhmm.inference.few_states`.
"""

from rhmm._jit import copy_into, lean_kernel
from rhmm.inference.few_states import (
    FEW,
    four_of,
    four_ones,
    four_rows,
    product_of,
    scaled,
    sum_of,
    transposed,
)
from rhmm.streams.chunk import start_law

FAINT, _SMALL = 1e-30, 1e-100
"""What goes on is scaled up when its sum falls below the first, what goes back below the second."""


@lean_kernel
def filter_group(
    transmat, densities, size, missing, starts, first, held, latest, alpha, density, scale, law
):
    """Filter so many observations: the first is `first` in `missing` and `starts`, and goes to the
    row `held` of `alpha` and `density`, both (2ℓ, N).

    Densities are p_j = ``densities[j * size + u]``. `latest` (N,) are the filtered probabilities so
    far, up to a factor as in `alpha`, and become those after the last observation: no step waits
    for a division. ``scale[u]`` is p(y | all before). `law` (N,) is working memory.
    """
    if len(latest) > FEW:
        _filter_many(
            transmat, densities, size, missing, starts, first, held, latest, alpha, density, scale,
            law,
        )  # fmt: skip
        return
    most = len(latest) - 1
    p0, p1 = densities[:size], densities[min(1, most) * size :]
    p2, p3 = densities[min(2, most) * size :], densities[most * size :]
    ahead, now = four_rows(transmat), four_of(latest)
    before = sum_of(now)
    for u in range(size):
        predicted = product_of(now, ahead)
        if starts[first + u]:
            start_law(transmat, law)
            predicted, before = four_of(law), 1.0
        likely = (1.0, 1.0, 1.0, 1.0) if missing[first + u] else (p0[u], p1[u], p2[u], p3[u])
        now = (
            predicted[0] * likely[0],
            predicted[1] * likely[1],
            predicted[2] * likely[2],
            predicted[3] * likely[3],
        )
        total = sum_of(now)
        scale[u] = total / before
        if total < FAINT:
            now = scaled(now, 1.0 / total)
            total = sum_of(now)
        before = total
        write_four(likely, density[held + u])
        write_four(now, alpha[held + u])
    write_four(now, latest)


@lean_kernel
def write_four(x, out):
    """Write up to four numbers into an array (N,)."""
    most = len(out) - 1
    out[most], out[min(2, most)], out[min(1, most)], out[0] = x[3], x[2], x[1], x[0]


@lean_kernel
def _filter_many(
    transmat, densities, size, missing, starts, first, held, latest, alpha, density, scale, law
):
    n, before = len(latest), 0.0
    for j in range(n):
        before += latest[j]
    for u in range(size):
        total = 0.0
        if starts[first + u]:
            start_law(transmat, law)
            before = 1.0
        else:
            for j in range(n):
                law[j] = 0.0
                for i in range(n):
                    law[j] += latest[i] * transmat[i, j]
        for j in range(n):
            likely = 1.0 if missing[first + u] else densities[j * size + u]
            density[held + u, j] = likely
            latest[j] = law[j] * likely
            total += latest[j]
        scale[u], before = total / before, total
        if total < FAINT:
            before = 0.0
            for j in range(n):
                latest[j] /= total
                before += latest[j]
        for j in range(n):
            alpha[held + u, j] = latest[j]


@lean_kernel
def smooth_group(transmat, alpha, density, missing, starts, begin, gamma, pair, later, work):
    """Back over all that is held: γ of the older half, ``gamma[i, t]``, and the sum of its ζ,
    ``pair[i, j]``; 0 where an observation is missing.

    What comes after the end of a sequence says nothing about it. `later` (2, N, ℓ) and `work`
    (2 or more, N) are working memory.
    """
    n, lag = gamma.shape
    beta, ahead = later[0], later[1]
    if n > FEW:
        _go_back_with_many(transmat, density, starts, begin, beta, ahead, work[0], work[1])
    else:
        _go_back(transmat, density, starts, begin, beta, ahead)
    for t in range(lag):
        total = 0.0
        for i in range(n):
            total += alpha[t, i] * beta[i, t]
        inverse = 0.0 if missing[begin + t] else 1.0 / total
        for i in range(n):
            share = alpha[t, i] * inverse
            gamma[i, t] = share * beta[i, t]
            beta[i, t] = share
    for i in range(n):
        for j in range(n):
            total, shares, v = 0.0, beta[i], ahead[j]
            for t in range(lag):
                total += shares[t] * v[t]
            pair[i, j] = total * transmat[i, j]


@lean_kernel
def _go_back(transmat, density, starts, begin, beta, ahead):
    """β_t(i) and the density of all that follows given s_{t+1} = j, both up to a factor, for the
    older half, in ``beta[i, t]`` and ``ahead[j, t]``."""
    n, lag = beta.shape
    most = n - 1
    back, v = transposed(four_rows(transmat)), four_of(density[2 * lag - 1])
    b0, b1, b2, b3 = beta[0], beta[min(1, most)], beta[min(2, most)], beta[most]
    v0, v1, v2, v3 = ahead[0], ahead[min(1, most)], ahead[min(2, most)], ahead[most]
    for t in range(2 * lag - 2, -1, -1):
        mass = product_of(v, back)
        if starts[begin + t + 1]:
            mass, v = four_ones(n), (0.0, 0.0, 0.0, 0.0)
        if t < lag:
            b3[t], b2[t], b1[t], b0[t] = mass[3], mass[2], mass[1], mass[0]
            v3[t], v2[t], v1[t], v0[t] = v[3], v[2], v[1], v[0]
        likely = four_of(density[t])
        v = (likely[0] * mass[0], likely[1] * mass[1], likely[2] * mass[2], likely[3] * mass[3])
        size = sum_of(v)
        if size < _SMALL:
            v = scaled(v, 1.0 / size)


@lean_kernel
def _go_back_with_many(transmat, density, starts, begin, beta, ahead, v, mass):
    """The same in arrays, of which `v` and `mass` (N,) are working memory."""
    n, lag = beta.shape
    copy_into(v, density[2 * lag - 1])
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
            v[i] = density[t, i] * mass[i]
            size += v[i]
        if size < _SMALL:
            for i in range(n):
                v[i] /= size
