"""Kernels take in the code of what they call, and change nothing for others that call it."""

import gc

import numba
from numba.core.registry import cpu_target

from rhmm._jit import kernel


@kernel
def doubled(x):
    return 2.0 * x


@kernel
def doubled_and_one(x):
    return doubled(x) + 1.0


def test_a_function_that_a_kernel_took_in_serves_python_and_other_compilers_too():
    codegen = cpu_target.target_context.codegen()
    before = codegen._library_class
    assert doubled_and_one(1.0) == 3.0
    assert codegen._library_class is before
    assert gc.isenabled()
    assert numba.njit(lambda x: doubled(x) - 1.0)(3.0) == 5.0
    assert doubled(4.0) == 8.0
