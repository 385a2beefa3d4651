"""A cache of costly results that all visitors of a server share."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Made = TypeVar("Made")


class SharedCache:
    """The latest `size` results. Each is made once: later callers wait for the one who makes it."""

    def __init__(self, size: int):
        self._size = size
        self._lock = threading.Lock()
        self._results: OrderedDict[Hashable, Future] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result under this key, made now if it is not there. A failure is not kept."""
        with self._lock:
            is_new = key not in self._results
            result = self._results.setdefault(key, Future())
            self._results.move_to_end(key)
            while len(self._results) > self._size:
                self._results.popitem(last=False)
        if is_new:
            try:
                result.set_result(make())
            except BaseException as error:  # else those who wait for it would wait for ever
                with self._lock:
                    if self._results.get(key) is result:
                        del self._results[key]
                result.set_exception(error)
        return result.result()


class _Same:
    """Equal only to itself around the very same object: comparing many runs would take longer."""

    def __init__(self, thing: object):
        self.thing = thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.thing is other.thing


def shared(size: int) -> Callable[[Callable[..., Made]], Callable[..., Made]]:
    """Decorator of a function of positional arguments: its latest `size` results are kept for all.

    Arguments are compared by their values, but tuples and lists must be the very same.
    """

    def decorate(make: Callable[..., Made]) -> Callable[..., Made]:
        cache = SharedCache(size)

        @wraps(make)
        def kept(*arguments) -> Made:
            key = tuple(_Same(a) if isinstance(a, tuple | list) else a for a in arguments)
            return cache.get(key, lambda: make(*arguments))

        return kept

    return decorate


def kept_with_it(size: int) -> Callable[[Callable[..., Made]], Callable[..., Made]]:
    """Decorator of a function of an object and other arguments: its latest `size` results for each
    object are kept for all, and are gone with the object."""

    def decorate(make: Callable[..., Made]) -> Callable[..., Made]:
        lock = threading.Lock()
        caches: WeakKeyDictionary[Any, SharedCache] = WeakKeyDictionary()

        @wraps(make)
        def kept(thing, *arguments) -> Made:
            with lock:
                cache = caches.setdefault(thing, SharedCache(size))
            return cache.get(arguments, lambda: make(thing, *arguments))

        return kept

    return decorate
