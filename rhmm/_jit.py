"""How every kernel of the engine is compiled, kept on disk, and told its manifold.

A kernel that needs geometry takes the manifold's ``geometry`` (a NamedTuple) as its first argument
and calls verbs such as :func:`rhmm.manifolds.verbs.dist2`. :func:`verb` declares a verb with its
default; :func:`implements` says what it means on one class of geometries. Unlike functions passed
as arguments, a geometry's class is found again in numba's cache. In the same way the streaming
recursion is told its emission: the first argument of those verbs is the state of the learner.

Compiled kernels are kept on disk. Numba compiles a kernel anew when the kernel's own file changes,
but not when a function that it calls from another file does. Our caches therefore carry a stamp of
all files of the package, so that no upgrade or edit leaves a stale kernel behind. A kernel compiled
for a geometry from outside of the package lies in a file of its own, and its stamp covers the files
of that other package too.
"""

import hashlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.errors import NumbaTypeError
from numba.core.sigutils import normalize_signature
from numba.extending import overload

from rhmm._compiler import KernelCompiler

_OPTIONS: Any = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "no_cpython_wrapper": True,
    "_nrt": True,
}
_LEAN = {"_nrt": False, "forceinline": True}


def kernel(function: Callable) -> Callable:
    """Compile `function` on first use: cached on disk, running without the interpreter lock.

    Kernels that call it take its code in. Numba would compile it by itself for them too, with all
    that Python needs to call it.
    """
    return _compiled_on_use(function, _OPTIONS)


def lean_kernel(function: Callable) -> Callable:
    """The same for a function that makes no arrays but views, and returns none.

    Numba counts how often each array is in use, to free it after the last. Within kernels such a
    function leaves that to those that call it: for every view, counting takes as long as an
    arithmetic operation on ten numbers, which is most of the time of short loops.
    """
    return _compiled_on_use(function, _OPTIONS | _LEAN)


def _compiled_on_use(function: Callable, options_within: dict[str, Any]) -> Callable:
    dispatcher = njit(pipeline_class=KernelCompiler, **_OPTIONS)(function)
    within = njit(**options_within)(function)
    dispatcher.get_call_template = within.get_call_template
    dispatcher.get_overload = within.get_overload
    dispatcher._cache = _KernelCache(function)
    # A copy of a learner shares its kernels, as it would share functions; numba would pickle them.
    dispatcher.__deepcopy__ = lambda memo: dispatcher
    return dispatcher


# Verbs: what kernels call, with one meaning for each class of geometries

_meanings: dict[Callable, dict[type, Callable]] = {}


def verb(default: Callable) -> Callable:
    """Declare a verb: inside kernels it means what `implements` registered, else `default`."""
    return _declare(default, default)


def inlined_verb(default: Callable) -> Callable:
    """The same for a verb that kernels take in wherever they call it, as lean as `lean_kernel`.

    It pays where a verb has little to do and much to be given. Other functions count each array
    that they are given: the state of a streaming learner has fourteen, and counting them took a
    third of its time. What implements such a verb makes no arrays itself.
    """
    return _declare(default, default, _LEAN)


def required_verb(function: Callable) -> Callable:
    """Declare a verb without a default: every geometry must implement it."""
    return _declare(function, None)


def _declare(function: Callable, default: Callable | None, more_options: Any = None) -> Callable:
    meanings = _meanings[function] = {}

    def choose(geometry, *_):
        kind = getattr(geometry, "instance_class", None)
        meaning = meanings.get(kind, default)
        if meaning is None:
            name = function.__name__
            raise NumbaTypeError(f"{name} is not implemented for the geometry {kind or geometry}")
        return meaning

    cast(Any, choose).__signature__ = inspect.signature(function)
    overload(function, jit_options=_OPTIONS | (more_options or {}))(choose)
    return function


def implements(verb: Callable, geometry_class: type) -> Callable:
    """Register the decorated function as what `verb` means on `geometry_class` inside kernels.

    The function takes the same arguments as the verb, under the same names. It may live in any
    package: when a Python file of that package changes, kernels that use it are compiled anew.
    Kernels for geometries defined in a notebook or in the script that Python was started with are
    compiled in every session.
    """

    def register(function: Callable) -> Callable:
        expected, found = inspect.signature(verb), inspect.signature(function)
        if list(found.parameters) != list(expected.parameters):
            raise TypeError(f"{verb.__name__} takes {expected}, not {found}")
        _meanings[verb][geometry_class] = function
        return function

    return register


# The cache


def _source_root(path: Path) -> Path:
    """The folder of the outermost package that the file `path` is part of, or `path` itself."""
    root = path
    while (root.parent / "__init__.py").exists():
        root = root.parent
    return root


def _digest(root: Path) -> bytes:
    """A digest of the Python files below `root`, or of the file that it is."""
    digest = hashlib.sha256()
    files = sorted(root.rglob("*.py")) if root.is_dir() else [root]
    for file in files:
        digest.update(file.read_bytes())
    return digest.digest()


_OUR_ROOT = _source_root(Path(__file__))
_OUR_STAMP = _digest(_OUR_ROOT)


def _stamp(root: Path) -> bytes:
    """What changes whenever this package or the one at `root` does."""
    known = root == _OUR_ROOT or not root.exists()  # numba itself watches cells of notebooks
    return _OUR_STAMP if known else _OUR_STAMP + _digest(root)


def cache_stamp() -> str:
    """What changes whenever the engine does, and with it all that is kept on disk."""
    return _OUR_STAMP.hex()[:16]


def cache_folder() -> Path:
    """A folder in which numba keeps kernels of this package."""
    return Path(FunctionCache(cache_folder).cache_path)


class _KernelCache(FunctionCache):
    """The compiled forms of one kernel on disk, with our stamp.

    The index of such a file holds the classes of geometries by reference, and cannot be read where
    one of them cannot be imported. So forms for geometries of another package lie in a file beside
    it, which is opened only where that package is in use.
    """

    def __init__(self, function: Callable):
        super().__init__(function)
        self._cache_file._source_stamp = _stamp(_source_root(Path(inspect.getfile(function))))
        self._beside: dict[type, FunctionCache | NullCache] = {}

    def load_overload(self, sig, target_context):
        beside = self._beside_for(sig)
        if beside is not None:
            return beside.load_overload(sig, target_context)
        return super().load_overload(sig, target_context)

    def save_overload(self, sig, data):
        beside = self._beside_for(sig)
        if beside is not None:
            beside.save_overload(sig, data)
        else:
            super().save_overload(sig, data)

    def _beside_for(self, sig) -> FunctionCache | NullCache | None:
        """The cache for the geometry among the argument types `sig`; None if it is one of ours."""
        for argument in normalize_signature(sig)[0]:
            kind = getattr(argument, "instance_class", None)
            if kind is not None and kind.__module__.split(".")[0] != _OUR_ROOT.name:
                if kind not in self._beside:
                    self._beside[kind] = self._open_beside(kind)
                return self._beside[kind]
        return None

    def _open_beside(self, kind: type) -> FunctionCache | NullCache:
        file = getattr(sys.modules.get(kind.__module__), "__file__", None)
        if file is None or kind.__module__ in ("__main__", "__mp_main__"):
            return NullCache()  # such a class is another one in the next session
        root = _source_root(Path(file))
        cache = FunctionCache(self._py_func)
        place = hashlib.sha256(str(root).encode()).hexdigest()[:16]
        cache._cache_file = IndexDataCacheFile(
            cache.cache_path, f"{cache._impl.filename_base}-{place}", _stamp(root)
        )
        return cache


@lean_kernel
def copy_into(target, source):
    """``target[:] = source`` for arrays of one shape.

    Numba's own assignment can say which shapes differ, and the code that puts this sentence
    together takes longer to compile than most kernels.
    """
    for k in range(source.size):
        target.flat[k] = source.flat[k]
