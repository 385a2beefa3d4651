"""A cache of costly results that all visitors of a server share."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any


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
