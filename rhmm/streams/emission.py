"""What the streaming recursion asks of the emission, which the class of its state tells.

These are verbs whose first argument is the state. Their bodies are those of the paper's emission;
`rhmm.streams.shaped_kernel` has those of Gaussians and Student's laws of any shape.
"""

from rhmm._jit import verb
from rhmm.gaussian.table import half_precision_and_log_z
from rhmm.manifolds import verbs


@verb
def log_densities(state, geometry, layout, first, last, i, out):
    """log p_i(y_t) of the `prepared` points from `first` to before `last`, into `out`."""
    half_precision, log_z = state.half_precision[i], state.log_z[i]
    verbs.distances_to(geometry, layout, first, last, state.means[i], out)
    for t in range(last - first):
        out[t] = -half_precision * out[t] - log_z


@verb
def learn_spread(state, geometry, table, settings, layout, begin, weights, visited, tau, i):
    """Move the mean and the spread of state i by τ towards what the points from `begin` on say.

    They have these weights, `visited` in all, which is positive.
    """
    delta, half_precision = state.delta, state.half_precision
    share = tau / visited
    kappa = max(2.0 * half_precision[i] * delta[i] / settings.dim, 1.0)
    d2 = verbs.weighted_step(
        geometry, layout, begin, begin + len(weights), weights, share / kappa, state.means[i]
    )
    delta[i] = max((1.0 - tau) * delta[i] + share * d2, settings.least_delta)
    half_precision[i], state.log_z[i] = half_precision_and_log_z(table, delta[i])


@verb
def settle(state, table, settings):
    """After all states have moved: what densities need that several states share.

    The paper's emission shares nothing.
    """
