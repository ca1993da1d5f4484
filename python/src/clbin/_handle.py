"""Objects of libclbin that several threads use and one closes."""

from __future__ import annotations

import os
import weakref
from threading import RLock

from ._enums import Status
from ._errors import ClosedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctypes import c_void_p
    from types import TracebackType
    from typing import Callable


class Handle:
    """Frees an object when it is closed and no call uses it any more.

    `with handle as pointer` uses the object. close() during a call of another thread takes effect
    when that call returns. Thread-safe.
    """

    def __init__(self, pointer: c_void_p, free: Callable[[c_void_p], None], what: str) -> None:
        self._pointer = pointer
        self._free = free
        self._what = what
        self._uses = 0
        self._is_closed = False
        self._is_freed = False
        self._lock = RLock()  # reentrant, because a signal handler may close the object
        _handles.add(self)

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def __enter__(self) -> c_void_p:
        with self._lock:
            if self._is_closed:
                raise ClosedError(Status.INVALID_ARGUMENT, f"the {self._what} is closed")
            self._uses += 1
            return self._pointer

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._lock:
            self._uses -= 1
        self._free_if_unused()

    def close(self) -> None:
        """Does nothing if the object is already closed."""
        with self._lock:
            self._is_closed = True
        self._free_if_unused()

    def _free_if_unused(self) -> None:
        with self._lock:
            if not self._is_closed or self._is_freed or self._uses > 0:
                return
            self._is_freed = True
        self._free(self._pointer)

    def renew_lock(self) -> None:
        """Replaces the lock in a forked child, where its owner may not exist any more."""
        self._lock = RLock()


_handles: weakref.WeakSet[Handle] = weakref.WeakSet()


def _renew_locks() -> None:
    for handle in tuple(_handles):
        handle.renew_lock()


os.register_at_fork(after_in_child=_renew_locks)
