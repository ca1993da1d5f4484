"""Exceptions, by topic, and the conversion of a clbin_error to one of them."""

from __future__ import annotations

import errno
from ctypes import Structure, byref, c_void_p, sizeof

from ._enums import ExitStatus, Status
from ._library import library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, TypeVar

    from ._compile import Diagnostic
    from ._report import Report

    AnyStruct = TypeVar("AnyStruct", bound=Structure)


class Error(Exception):
    """The base of all exceptions of this package.

    code: a Status, or the ExitStatus of oclcc in a CompileError.
    message: what failed and why. The build log follows on further lines of a BuildError.
    report: the report of the load or build that failed, or None.
    opencl_code, stage: what the OpenCL call returned that failed, and its name; 0 and "" if none
    did.
    """

    code: int
    message: str
    report: Report | None
    opencl_code: int = 0
    stage: str = ""

    def __init__(self, code: int, message: str, report: Report | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.report = report

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        call = {"opencl_code": self.opencl_code, "stage": self.stage}
        return (type(self), (self.code, self.message), call)


class ArgumentError(Error, ValueError):
    """An argument is invalid."""


class ClosedError(ArgumentError):
    """The bundle or the builder is closed."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""


class InternalError(Error):
    """An unexpected failure in libclbin."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class BundleNotFoundError(FileError, FileNotFoundError):
    """The file of a bundle does not exist."""

    def __init__(self, code: int, message: str, report: Report | None = None) -> None:
        super().__init__(code, message, report)
        self.errno = errno.ENOENT


class BundleError(Error):
    """The bytes are not a valid bundle, or exceed a limit."""


class EncryptedError(BundleError):
    """The bundle is encrypted, and there is no key, or the key does not open it."""


class SelectionError(Error, LookupError):
    """The bundle does not contain the program, the variant, or anything for the device."""


class OpenCLError(Error):
    """OpenCL is missing, a call of it failed, or a driver rejected a binary."""


class BuildError(OpenCLError):
    """A driver cannot build the source of a program.

    log: the build log of the driver.
    """

    @property
    def log(self) -> str:
        return self.message.partition("\n")[2]


class TrustError(Error):
    """The bundle is not signed by a trusted key."""


class CompileError(Error):
    """oclcc failed.

    code: the ExitStatus of oclcc.
    message, file, line, column: of the first error. `file` is None and the numbers are 0 if the
    error has no place in a source file. Lines and columns start at 1; a column counts bytes.
    diagnostics: every message, in order.
    """

    file: str | None
    line: int
    column: int
    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, code: int, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(code, message)
        self.diagnostics = diagnostics
        first = next((each for each in diagnostics if each.severity == "error"), None)
        self.file = first.file if first else None
        self.line = first.line if first else 0
        self.column = first.column if first else 0

    def __str__(self) -> str:
        return "\n".join(str(each) for each in self.diagnostics) or self.message

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.code, self.message, self.diagnostics))


_SINGLE: dict[int, type[Error]] = {
    Status.INVALID_ARGUMENT: ArgumentError,
    Status.OUT_OF_MEMORY: OutOfMemoryError,
    Status.FILE_NOT_FOUND: BundleNotFoundError,
    Status.ENCRYPTED: EncryptedError,
    Status.BUILD_FAILED: BuildError,
    Status.WRONG_KEY: EncryptedError,
}
_TOPICS: dict[int, type[Error]] = {
    1: InternalError,
    2: FileError,
    3: BundleError,
    4: SelectionError,
    5: OpenCLError,
    6: TrustError,
}


def status_of(number: int) -> int:
    """Returns a Status, or the number itself if this version does not know it."""
    try:
        return Status(number)
    except ValueError:
        return number


def exit_status_of(number: int) -> int:
    """Returns an ExitStatus, or the number itself, which is negative for a signal."""
    try:
        return ExitStatus(number)
    except ValueError:
        return number


def new_error(number: int, message: str, report: Report | None = None) -> Error:
    """Returns the exception for a status."""
    kind = _SINGLE.get(number, _TOPICS.get(number // 10, Error))
    return kind(status_of(number), message, report)


def text_of(value: bytes | None) -> str:
    """Decodes a text for people: bytes that are not UTF-8 become escapes."""
    return "" if value is None else value.decode("utf-8", "backslashreplace")


def name_of(value: bytes | None) -> str:
    """Decodes a name, so that argument() returns the same bytes."""
    return "" if value is None else value.decode("utf-8", "surrogateescape")


def argument(value: object, name: str) -> bytes:
    """Encodes an argument. Raises TypeError, or ArgumentError if it contains a zero byte."""
    if not isinstance(value, str):
        raise TypeError(f"'{name}' must be str, not {type(value).__name__}")
    try:
        encoded = value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ArgumentError(Status.INVALID_ARGUMENT, f"'{name}' is not text: {error}") from None
    if b"\0" in encoded:
        raise ArgumentError(Status.INVALID_ARGUMENT, f"'{name}' contains a zero byte")
    return encoded


def call(
    function: Callable[..., int], *arguments: object, report: Callable[[], Report] | None = None
) -> None:
    """Calls a function whose last parameter is a clbin_error**. Raises the error that it returns.

    report: returns the report that the function has filled.
    """
    error = c_void_p()
    status = function(*arguments, byref(error))
    if status == Status.SUCCESS:
        return
    try:
        if error:
            message = text_of(library.clbin_error_message(error))
        else:
            message = text_of(library.clbin_status_name(status))
        opencl_code = library.clbin_error_opencl_code(error)
        stage = text_of(library.clbin_error_stage(error))
    finally:
        library.clbin_error_free(error)
    failure = new_error(status, message, None if report is None else report())
    failure.opencl_code = opencl_code
    failure.stage = stage
    raise failure


def filled(kind: type[AnyStruct], function: Callable[..., int], *arguments: object) -> AnyStruct:
    """Returns a struct that a function fills, which is its last parameter."""
    struct = kind(struct_size=sizeof(kind))
    status = function(*arguments, byref(struct))
    if status != Status.SUCCESS:
        raise new_error(status, text_of(library.clbin_status_name(status)))
    return struct
