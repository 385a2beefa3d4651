"""Laws and matrices of up to four states in variables.

A step of a recursion needs what the step before it has just computed. Numbers in variables are
there at once, those in arrays only some cycles later: a step takes a third of the time. Laws are
tuples of four numbers, matrices tuples of four rows, filled up with zeros where there are fewer
states.
"""

from rhmm._jit import lean_kernel
from rhmm.vector_math import fma

FEW = 4
"""States that there are variables for."""


@lean_kernel
def four_of(x):
    """Up to four numbers in variables, 0 for those that are not there."""
    n = len(x)
    return (
        x[0],
        x[1] if n > 1 else 0.0,
        x[2] if n > 2 else 0.0,
        x[3] if n > 3 else 0.0,
    )


@lean_kernel
def four_ones(n):
    """1 for each of n states."""
    return 1.0, 1.0 if n > 1 else 0.0, 1.0 if n > 2 else 0.0, 1.0 if n > 3 else 0.0


@lean_kernel
def four_rows(matrix):
    """Up to four rows of a square matrix in variables."""
    n = len(matrix)
    nothing = (0.0, 0.0, 0.0, 0.0)
    return (
        four_of(matrix[0]),
        four_of(matrix[1]) if n > 1 else nothing,
        four_of(matrix[2]) if n > 2 else nothing,
        four_of(matrix[3]) if n > 3 else nothing,
    )


@lean_kernel
def transposed(rows):
    """The columns of a matrix."""
    a, b, c, d = rows
    return (
        (a[0], b[0], c[0], d[0]),
        (a[1], b[1], c[1], d[1]),
        (a[2], b[2], c[2], d[2]),
        (a[3], b[3], c[3], d[3]),
    )


@lean_kernel
def product_of(x, rows):
    """Σ_i x_i A_ij, for each j."""
    a, b, c, d = rows
    return (
        fma(x[1], b[0], x[0] * a[0]) + fma(x[3], d[0], x[2] * c[0]),
        fma(x[1], b[1], x[0] * a[1]) + fma(x[3], d[1], x[2] * c[1]),
        fma(x[1], b[2], x[0] * a[2]) + fma(x[3], d[2], x[2] * c[2]),
        fma(x[1], b[3], x[0] * a[3]) + fma(x[3], d[3], x[2] * c[3]),
    )


@lean_kernel
def sum_of(x):
    """Σ_i x_i."""
    return (x[0] + x[1]) + (x[2] + x[3])


@lean_kernel
def scaled(x, factor):
    """x_i times the factor, for each i."""
    return x[0] * factor, x[1] * factor, x[2] * factor, x[3] * factor


@lean_kernel
def dot_of(x, y):
    """Σ_i x_i y_i."""
    return fma(x[1], y[1], x[0] * y[0]) + fma(x[3], y[3], x[2] * y[2])


@lean_kernel
def added(x, factor, y):
    """x_i + factor · y_i, for each i."""
    return (
        fma(factor, y[0], x[0]),
        fma(factor, y[1], x[1]),
        fma(factor, y[2], x[2]),
        fma(factor, y[3], x[3]),
    )
