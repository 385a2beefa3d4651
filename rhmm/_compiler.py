"""Numba's compiler, told what it can leave out and what it need not find twice.

What it leaves out: the machine code of functions that only other kernels call, and the repetition
of the bodies of loops. What it remembers while it compiles a kernel: what it asks itself thousands
of times. All of it shortens the time until a new process without a cache has its first result,
which `benchmarks.compiling` measures.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from llvmlite.binding import create_pass_builder, create_pipeline_tuning_options
from numba.core import config
from numba.core.base import BaseContext
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.types import Boolean, Number
from numba.core.types.functions import BaseFunction


class KernelCompiler(Compiler):
    """Compiles a function that Python calls, and takes in all functions that this one calls."""

    def compile_extra(self, func):
        codegen = self.state.targetctx.codegen()
        replaced = {(codegen, "_library_class"): _CodeOnDemand, **_Memory().methods}
        with _without_collections(), _replaced(replaced):
            return super().compile_extra(func)

    def define_pipelines(self):
        # Types are inferred with the options of all other functions: numba would otherwise compile
        # its own functions anew for these.
        self.state.flags.no_cpython_wrapper = False
        return super().define_pipelines()


@contextmanager
def _without_collections() -> Iterator[None]:
    """Turn the collector off; afterwards put all new objects into its oldest generation.

    Most of what the compiler makes stays, and would be looked through again and again.
    """
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_collecting:
            if gc.get_freeze_count() == 0:  # else objects that others froze would thaw
                gc.freeze()
                gc.unfreeze()
            gc.enable()


@contextmanager
def _replaced(attributes: dict[tuple[Any, str], Any]) -> Iterator[None]:
    """Other values of attributes, by their owner and name; numba's lock is held meanwhile."""
    before = {place: getattr(*place) for place in attributes}
    for place, value in attributes.items():
        setattr(*place, value)
    try:
        yield
    finally:
        for place, value in before.items():
            setattr(*place, value)


class _Memory:
    """What numba finds out thousands of times while it compiles one kernel, kept until the end."""

    def __init__(self):
        self._signatures, self._sizes = {}, {}
        self.methods = {
            (TargetConfig, "__eq__"): _are_same_flags,
            (TargetConfig, "__hash__"): _hash_of_flags,
            (BaseFunction, "get_call_type"): self._of_calls(BaseFunction.get_call_type),
            (BaseContext, "get_abi_sizeof"): self._of_sizes(BaseContext.get_abi_sizeof),
        }

    def _of_calls(self, find: Callable) -> Callable:
        """The types of what functions return for numbers: most are the four operations."""

        def get_call_type(function, context, args, kws):
            if kws or not all(isinstance(arg, Number | Boolean) for arg in args):
                return find(function, context, args, kws)
            flags = ConfigStack.top_or_none()  # only functions that count may make arrays
            question = function, args, flags is None or flags.nrt
            if question not in self._signatures:
                self._signatures[question] = find(function, context, args, kws)
            return self._signatures[question]

        return get_call_type

    def _of_sizes(self, find: Callable) -> Callable:
        """How many bytes a type takes: numba asks LLVM, in a module of text for each variable."""

        def get_abi_sizeof(context, kind):
            name = str(kind)  # llvmlite hashes all structures alike: they are slow keys
            if name not in self._sizes:
                self._sizes[name] = find(context, kind)
            return self._sizes[name]

        return get_abi_sizeof


_COMPARE_FLAGS, _HASH_FLAGS = TargetConfig.__eq__, TargetConfig.__hash__


def _are_same_flags(flags: TargetConfig, others: object) -> bool:
    """What numba's own comparison says, sooner: it compares all of them each time."""
    if type(flags) is not type(others):
        return _COMPARE_FLAGS(flags, others)
    mine, theirs = flags._values, others._values
    if mine == theirs:
        return True
    named = mine.keys() | theirs.keys()  # all others have their defaults
    return all(getattr(flags, name) == getattr(others, name) for name in named)


@lru_cache
def _hash_of_kind(kind: type[TargetConfig]) -> int:
    return _HASH_FLAGS(kind())


def _hash_of_flags(flags: TargetConfig) -> int:
    """Numba's own, which is made of the names of the flags, not of their values."""
    return _hash_of_kind(type(flags))


class _CodeOnDemand(JITCodeLibrary):
    """The code of a function, optimised and turned into machine code only if Python calls it.

    Numba does both for every function that a kernel calls, directly or not, although the kernel
    takes in the code of all of them and optimises it once more. That took half of the time.
    """

    _is_complete = False

    def _optimize_functions(self, ll_module):
        """Only tidy up: kernels that take this code in optimise it with their own."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if function.is_declaration:
                continue
            passes, builder = self._codegen._function_pass_manager(opt=1)
            passes.run(function, builder)

    def _optimize_final_module(self):
        """Wait for `get_pointer_to_function`."""

    def _finalize_final_module(self):
        self._finalized = True
        if self._disable_inspection:  # it comes from a file, as machine code
            self._is_complete = True
            super()._finalize_final_module()

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        if not self._is_complete:
            if all(function.name != name for function in self.get_defined_functions()):
                return 0
            self._is_complete = True
            self._optimize_all()
            super()._finalize_final_module()
            self._set_environments()
        return super().get_pointer_to_function(name)

    def _optimize_all(self):
        """What numba does, but for repeating the bodies of loops: loops that run in vectors are
        as fast without, and the code is shorter by a third."""
        codegen = self._codegen
        passes, builder = codegen._module_pass_manager(
            cost="cheap", opt=codegen._opt_level, loop_vectorize=codegen._loopvect,
            slp_vectorize=False,
        )  # fmt: skip
        passes.run(self._final_module, builder)
        tuning = create_pipeline_tuning_options(int(config.OPT))
        tuning.loop_vectorization = bool(config.LOOP_VECTORIZE)
        tuning.slp_vectorization = bool(config.SLP_VECTORIZE)
        tuning.loop_unrolling = tuning.loop_interleaving = False
        builder = create_pass_builder(codegen._tm, tuning)
        passes = builder.getModulePassManager()
        if config.LLVM_REFPRUNE_PASS:
            passes.add_refprune_pass()
        passes.run(self._final_module, builder)

    def _set_environments(self):
        """Those of all functions whose code it has taken in, as numba does for each of them."""
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                self._codegen.set_env(variable.name, environment)

    @property
    def codegen(self):
        """What numba tells the environment of this function."""
        return self._codegen if self._is_complete else _NO_PLACE


class _NoPlace:
    def set_env(self, env_name, env):
        """Code that only others take in has no place for an environment."""


_NO_PLACE = _NoPlace()
