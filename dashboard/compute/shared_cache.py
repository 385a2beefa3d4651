"""A cache of costly results that all visitors of a server share.

What is made of a visitor's own file is kept apart, with the file, and is gone with it.
"""

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
        self._beside: WeakKeyDictionary[Any, SharedCache] = WeakKeyDictionary()

    def get(self, key: Hashable, make: Callable[[], Any], beside: Any = None) -> Any:
        """The result under this key, made now if it is not there. A failure is not kept.

        A caller who waits for another one that fails makes the result itself: the other one may
        have been cancelled, which is no failure of this one.

        With `beside`, the result is kept with that object, and is gone with it. Neither the key nor
        the result may hold the object, else it would stay for ever.
        """
        if beside is not None:
            with self._lock:
                cache = self._beside.setdefault(beside, SharedCache(self._size))
            return cache.get(key, make)
        while True:
            with self._lock:
                is_new = key not in self._results
                result = self._results.setdefault(key, Future())
                self._results.move_to_end(key)
                while len(self._results) > self._size:
                    self._results.popitem(last=False)
            if is_new:
                self._make(key, result, make)
            if is_new or result.exception() is None:
                return result.result()

    def _make(self, key: Hashable, result: Future, make: Callable[[], Any]) -> None:
        try:
            result.set_result(make())
        except BaseException as error:  # else those who wait for it would wait for ever
            with self._lock:
                if self._results.get(key) is result:
                    del self._results[key]
            result.set_exception(error)


class Same:
    """Equal only to itself around the very same object: comparing many runs would take longer."""

    def __init__(self, thing: object):
        self.thing = thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.thing is other.thing


def shared(size: int) -> Callable[[Callable[..., Made]], Callable[..., Made]]:
    """Decorator of a function of positional arguments: its latest `size` results are kept for all.

    Arguments are compared by their values, but tuples and lists must be the very same. Where one of
    them may hold a visitor's own file, use a `SharedCache`.
    """

    def decorate(make: Callable[..., Made]) -> Callable[..., Made]:
        cache = SharedCache(size)

        @wraps(make)
        def kept(*arguments) -> Made:
            key = tuple(Same(a) if isinstance(a, tuple | list) else a for a in arguments)
            return cache.get(key, lambda: make(*arguments))

        return kept

    return decorate


def kept_with_it(size: int) -> Callable[[Callable[..., Made]], Callable[..., Made]]:
    """Decorator of a function of an object and other arguments: its latest `size` results for each
    object are kept for all, and are gone with the object."""

    def decorate(make: Callable[..., Made]) -> Callable[..., Made]:
        cache = SharedCache(size)

        @wraps(make)
        def kept(thing, *arguments) -> Made:
            return cache.get(arguments, lambda: make(thing, *arguments), beside=thing)

        return kept

    return decorate
