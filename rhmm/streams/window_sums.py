"""The backward recursion of the paper's algorithm (Table 1): what a window says under today's
parameters.

β_t is only needed up to a factor, since γ and ζ are divided by their sums.
"""

from rhmm._jit import copy_into, kernel, lean_kernel

_TOGETHER = 8
"""Steps between two divisions that keep β near 1. Of any entry of A at least 10⁻¹² is left, so in
so many steps β cannot fall below the range of double precision."""


@kernel
def window_sums(transmat, alpha, density, starts, beta, v, gamma_sum, zeta_sum, pair):
    """Σγ, Σζ, and the ζ of the newest pair, from α (Δ, N) and the densities (N, Δ).

    What comes after the end of a sequence says nothing about it.
    """
    n, last = len(beta), len(alpha) - 1
    for i in range(n):
        beta[i] = 1.0
        gamma_sum[i] = max(alpha[last, i], 1e-300)
        for j in range(n):
            zeta_sum[i, j] = 0.0
    for t in range(last - 1, -1, -1):
        total, most = 0.0, 0.0
        for j in range(n):
            v[j] = density[j, t + 1] * beta[j]
        for i in range(n):
            mass = 0.0
            for j in range(n):
                mass += transmat[i, j] * v[j]
            if starts[t + 1]:
                mass = 1.0
            beta[i] = mass
            most = max(most, mass)
            total += alpha[t, i] * mass
        inverse, rescale = 1.0 / total, 1.0 / most
        for i in range(n):
            share = alpha[t, i] * inverse
            gamma_sum[i] += share * beta[i]
            if not starts[t + 1]:
                for j in range(n):
                    zeta_sum[i, j] += share * v[j]
            beta[i] *= rescale
        if t == last - 1:
            copy_into(pair, zeta_sum)
    for i in range(n):
        for j in range(n):
            zeta_sum[i, j] *= transmat[i, j]
            pair[i, j] *= transmat[i, j]


@lean_kernel
def window_sums_of_three(transmat, alpha, density, gamma_sum, zeta_sum, pair):
    """The same for three states, as in the paper, and a window within one sequence.

    A step needs what the step before it has just computed. Numbers in variables are there at once,
    those in arrays only some cycles later: this takes 0.4 of the time.
    """
    a00, a01, a02 = transmat[0, 0], transmat[0, 1], transmat[0, 2]
    a10, a11, a12 = transmat[1, 0], transmat[1, 1], transmat[1, 2]
    a20, a21, a22 = transmat[2, 0], transmat[2, 1], transmat[2, 2]
    last = len(alpha) - 1
    gamma0 = max(alpha[last, 0], 1e-300)
    gamma1 = max(alpha[last, 1], 1e-300)
    gamma2 = max(alpha[last, 2], 1e-300)
    z00 = z01 = z02 = z10 = z11 = z12 = z20 = z21 = z22 = 0.0
    beta0 = beta1 = beta2 = 1.0
    t, steps = last, 1  # the newest pair goes alone
    while t > 0:
        until = max(t - steps, 0)
        while t > until:
            v0, v1, v2 = density[0, t] * beta0, density[1, t] * beta1, density[2, t] * beta2
            t -= 1
            beta0 = a00 * v0 + a01 * v1 + a02 * v2
            beta1 = a10 * v0 + a11 * v1 + a12 * v2
            beta2 = a20 * v0 + a21 * v1 + a22 * v2
            share0, share1, share2 = alpha[t, 0], alpha[t, 1], alpha[t, 2]
            inverse = 1.0 / (share0 * beta0 + share1 * beta1 + share2 * beta2)
            share0 *= inverse
            share1 *= inverse
            share2 *= inverse
            gamma0 += share0 * beta0
            gamma1 += share1 * beta1
            gamma2 += share2 * beta2
            z00 += share0 * v0
            z01 += share0 * v1
            z02 += share0 * v2
            z10 += share1 * v0
            z11 += share1 * v1
            z12 += share1 * v2
            z20 += share2 * v0
            z21 += share2 * v1
            z22 += share2 * v2
        if steps == 1:
            pair[0, 0], pair[0, 1], pair[0, 2] = a00 * z00, a01 * z01, a02 * z02
            pair[1, 0], pair[1, 1], pair[1, 2] = a10 * z10, a11 * z11, a12 * z12
            pair[2, 0], pair[2, 1], pair[2, 2] = a20 * z20, a21 * z21, a22 * z22
            steps = _TOGETHER
        rescale = 1.0 / max(beta0, beta1, beta2)
        beta0 *= rescale
        beta1 *= rescale
        beta2 *= rescale
    gamma_sum[0], gamma_sum[1], gamma_sum[2] = gamma0, gamma1, gamma2
    zeta_sum[0, 0], zeta_sum[0, 1], zeta_sum[0, 2] = a00 * z00, a01 * z01, a02 * z02
    zeta_sum[1, 0], zeta_sum[1, 1], zeta_sum[1, 2] = a10 * z10, a11 * z11, a12 * z12
    zeta_sum[2, 0], zeta_sum[2, 1], zeta_sum[2, 2] = a20 * z20, a21 * z21, a22 * z22
