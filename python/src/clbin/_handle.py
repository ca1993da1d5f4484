"""Objects of libclbin that several threads use and one closes."""

from __future__ import annotations

import os
import weakref
from threading import RLock, get_ident

from ._enums import Status
from ._errors import ClosedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctypes import c_void_p
    from types import TracebackType
    from typing import Callable

    from typing_extensions import Self


class Handle:
    """Frees an object when it is closed and no call uses it any more.

    `with handle as pointer` uses the object. close() during a call of another thread takes effect
    when that call returns. Thread-safe.

    In a forked child, a handle that another thread was using during the fork is closed and never
    freed: a lock of libclbin may belong to that thread, which does not exist there.
    """

    def __init__(self, pointer: c_void_p, free: Callable[[c_void_p], None], what: str) -> None:
        self._pointer = pointer
        self._free = free
        self._what = what
        self._users: list[int] = []  # a thread for each use
        self._holders = 0
        self._held: list[Handle] = []
        self._is_closed = False
        self._is_lost = False
        self._is_freed = False
        self._lock = RLock()  # reentrant, because a signal handler may close the object
        _handles.add(self)

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def _check_open(self) -> None:
        if self._is_lost or any(held._is_lost for held in self._held):
            message = f"another thread was using the {self._what} when this process was forked"
            raise ClosedError(Status.INVALID_ARGUMENT, message)
        if self._is_closed:
            raise ClosedError(Status.INVALID_ARGUMENT, f"the {self._what} is closed")

    def __enter__(self) -> c_void_p:
        with self._lock:
            self._check_open()
            self._users.append(get_ident())
            return self._pointer

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._lock:
            self._users.remove(get_ident())
        self._free_if_unused()

    def hold(self, other: Handle) -> c_void_p:
        """Does not free another object before this one, also if it is closed. Returns it."""
        with other._lock:
            other._check_open()
            other._holders += 1
        self._held.append(other)
        return other._pointer

    def release(self, other: Handle) -> None:
        """Undoes one hold()."""
        self._held.remove(other)
        with other._lock:
            other._holders -= 1
        other._free_if_unused()

    def close(self) -> None:
        """Does nothing if the object is already closed."""
        with self._lock:
            self._is_closed = True
        self._free_if_unused()

    def _free_if_unused(self) -> None:
        with self._lock:
            is_used = bool(self._users) or self._holders > 0
            if not self._is_closed or self._is_freed or is_used:
                return
            self._is_freed = True
        self._free(self._pointer)
        for other in tuple(self._held):
            self.release(other)

    def continue_in_child(self) -> None:
        """Replaces the lock in a forked child, where its owner may not exist any more."""
        self._lock = RLock()
        this_thread = get_ident()
        if any(user != this_thread for user in self._users):
            self._is_closed = self._is_lost = True


class Owner:
    """An object with a handle, which close() closes, and also the end of a with statement, of the
    object and of the interpreter."""

    _handle: Handle

    def _own(self, handle: Handle) -> None:
        self._handle = handle
        weakref.finalize(self, handle.close)

    def close(self) -> None:
        """Closes the object. Blocks until the user cache contains what was built, which usually
        takes some milliseconds. Does nothing if the object is already closed."""
        self._handle.close()

    @property
    def closed(self) -> bool:
        """Whether the object is closed."""
        return self._handle.is_closed

    def __enter__(self) -> Self:
        with self._handle:
            return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


_handles: weakref.WeakSet[Handle] = weakref.WeakSet()


def _continue_in_child() -> None:
    for handle in tuple(_handles):
        handle.continue_in_child()


os.register_at_fork(after_in_child=_continue_in_child)
