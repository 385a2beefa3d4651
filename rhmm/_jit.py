"""How every kernel of the engine is compiled, and how it finds its manifold.

Kernels are compiled once and kept on disk. Numba notices when the file of a kernel changes, but not
when a function that it calls from another file does; the stamp of our caches therefore covers the
whole package, so that no upgrade or edit can leave a stale kernel behind.

A kernel that needs geometry takes the manifold's ``geometry`` (a NamedTuple) as its first argument
and calls verbs such as :func:`rhmm.manifolds.verbs.dist2`; :func:`implements` registers what a verb
means on one geometry. Unlike functions passed as arguments, this is found again in the cache.
"""

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path

from numba import njit
from numba.extending import overload

_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def _package_stamp() -> bytes:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


_STAMP = _package_stamp()


def kernel(function: Callable) -> Callable:
    """Compile `function` on first use: cached on disk, running without the interpreter lock."""
    return _stamped(njit(cache=True, **_OPTIONS)(function))


def piece(function: Callable) -> Callable:
    """A part of the kernel that uses it, compiled there and not by itself.

    A function that kernels call is compiled twice, alone and within them, and so on at each level:
    large ones that are used in one place should be pieces.
    """
    return _stamped(njit(cache=True, inline="always", **_OPTIONS)(function))


def summing_kernel(function: Callable) -> Callable:
    """A kernel that may add up in any order, which lets sums run in vectors."""
    return _stamped(njit(cache=True, fastmath={"reassoc", "nsz"}, **_OPTIONS)(function))


def _stamped(dispatcher):
    dispatcher._cache._cache_file._source_stamp = _STAMP
    return dispatcher


def implements(verb: Callable, geometry_class: type) -> Callable:
    """Register the decorated function as what `verb` means on `geometry_class` inside kernels."""

    def register(function: Callable) -> Callable:
        def choose(geometry, *_):
            return function if getattr(geometry, "instance_class", None) is geometry_class else None

        choose.__signature__ = inspect.signature(function)
        overload(verb, jit_options=_OPTIONS)(choose)
        return function

    return register
