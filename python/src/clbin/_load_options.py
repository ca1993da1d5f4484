"""The clbin_load_options of one call."""

from __future__ import annotations

from ctypes import c_void_p, create_string_buffer

from ._enums import Fallback, Status
from ._errors import OutOfMemoryError, argument, new_error
from ._library import library
from ._opencl import joined, resolver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Union

    ConstantValue = Union[bool, bytes, "Buffer"]

    class Buffer:
        """An object with the buffer protocol, such as numpy.float32(1) or ctypes.c_int(1)."""


class LoadOptions:
    """Creates options that use PyOpenCL's loader. A context manager that frees them."""

    def __init__(self) -> None:
        pointer = library.clbin_load_options_create()
        if pointer is None:
            raise OutOfMemoryError(Status.OUT_OF_MEMORY, "out of memory")
        self.pointer = c_void_p(pointer)

    def __enter__(self) -> LoadOptions:
        try:
            _check(library.clbin_load_options_set_resolver(self.pointer, resolver(), None), "")
        except BaseException:
            library.clbin_load_options_free(self.pointer)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        library.clbin_load_options_free(self.pointer)

    def set_variant(self, variant: str | None) -> None:
        if variant is not None:
            name = argument(variant, "variant")
            _check(library.clbin_load_options_set_variant(self.pointer, name), "variant")

    def set_build_options(self, options: str | Sequence[str] | None) -> None:
        if options is None:
            return
        text = joined(options)
        encoded = argument(text, "options")
        _check(library.clbin_load_options_set_build_options(self.pointer, encoded), "options")

    def set_fallback(self, fallback: Fallback) -> None:
        number = Fallback(fallback)
        _check(library.clbin_load_options_set_fallback(self.pointer, number), "fallback")

    def set_constants(self, constants: Mapping[int, ConstantValue] | None) -> None:
        if constants is None:
            return
        import collections.abc  # here, because it would slow `import clbin`

        if not isinstance(constants, collections.abc.Mapping):
            raise TypeError(f"'constants' must be a mapping, not {type(constants).__name__}")
        for number, value in constants.items():
            if not isinstance(number, int) or not 0 <= number < 2**32:
                raise _invalid(f"{number!r} is not the SpecId of a specialization constant")
            content = _bytes_of(value)
            status = library.clbin_load_options_set_specialization_constant(
                self.pointer, number, len(content), create_string_buffer(content, len(content))
            )
            _check(status, f"specialization constant {number}")


def _bytes_of(value: ConstantValue) -> bytes:
    if isinstance(value, bool):
        return bytes([value])
    if isinstance(value, (int, float, str)):
        raise TypeError(
            "a specialization constant has the size of its type: pass numpy.int32(1) or "
            "ctypes.c_int32(1), not 1"
        )
    content = memoryview(value).tobytes()  # type: ignore[arg-type]
    if not content:
        raise _invalid("a specialization constant has no bytes")
    return content


def _invalid(message: str) -> Exception:
    return new_error(Status.INVALID_ARGUMENT, message)


def _check(status: int, what: str) -> None:
    if status != Status.SUCCESS:
        raise new_error(status, f"'{what}' is invalid")
