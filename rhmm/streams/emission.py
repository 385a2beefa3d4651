"""What the streaming recursion asks of the emission, which the class of its state tells.

These are verbs whose first argument is the state. Their bodies are those of the paper's emission;
`rhmm.streams.shaped_kernel` has those of Gaussians and Student's laws of any shape.
"""

from rhmm._jit import inlined_verb, lean_kernel
from rhmm.gaussian.table import half_precision_and_log_z
from rhmm.manifolds import verbs


@inlined_verb
def log_densities(state, geometry, layout, first, last, out):
    """log p_i(y_t) of the T `prepared` points from `first` to before `last`, into ``out[i, t]`` of
    shape (N, T), given as one row after another."""
    verbs.distances_from(geometry, layout, first, last, state.means, out)
    _turn_into_logs(state.half_precision, state.log_z, last - first, out)


@lean_kernel
def _turn_into_logs(half_precision, log_z, size, out):
    for i in range(len(log_z)):
        eta, constant, mine = -half_precision[i], log_z[i], out[i * size : (i + 1) * size]
        for t in range(len(mine)):
            mine[t] = eta * mine[t] - constant


@inlined_verb
def learn_spreads(
    state, geometry, table, settings, layout, begin, weights, visited, tau, steps, totals
):
    """Move the means and spreads by τ (N,) towards what the points from `begin` on say.

    They have weights (N, L), in each state `visited` (N,) in all. A state whose τ is 0 does not
    move. `steps` and `totals` (N,) are working memory.
    """
    delta, half_precision = state.delta, state.half_precision
    _damp(delta, half_precision, settings.dim, visited, tau, steps)
    last = begin + weights.shape[1]
    verbs.weighted_steps(geometry, layout, begin, last, weights, steps, state.means, totals)
    _learn_delta(
        delta, half_precision, state.log_z, table, settings.least_delta, visited, tau, totals
    )


@lean_kernel
def _damp(delta, half_precision, dim, visited, tau, steps):
    """τ for each visit, divided by κ."""
    for i in range(len(delta)):
        kappa = max(2.0 * half_precision[i] * delta[i] / dim, 1.0)
        steps[i] = tau[i] / (visited[i] * kappa) if tau[i] > 0.0 else 0.0


@lean_kernel
def _learn_delta(delta, half_precision, log_z, table, least, visited, tau, totals):
    for i in range(len(delta)):
        if tau[i] > 0.0:
            found = (1.0 - tau[i]) * delta[i] + tau[i] / visited[i] * totals[i]
            delta[i] = max(found, least)
            half_precision[i], log_z[i] = half_precision_and_log_z(table, delta[i])


@inlined_verb
def settle(state, table, settings):
    """After all states have moved: what densities need that several states share.

    The paper's emission shares nothing.
    """
