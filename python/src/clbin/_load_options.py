"""The clbin_load_options of one call."""

from __future__ import annotations

from ctypes import POINTER, c_size_t, c_void_p, cast, create_string_buffer, pointer, sizeof

from ._enums import Answers, Fallback, Status
from ._errors import argument, new_error
from ._library import ConstantStruct, LoadOptionsStruct, library
from ._opencl import joined, resolver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Union

    ConstantValue = Union[bool, bytes, "Buffer"]

    class Buffer:
        """An object with the buffer protocol, such as numpy.float32(1) or ctypes.c_int(1)."""


class LoadOptions:
    """Options that use PyOpenCL's loader.

    pointer: to the struct, which is valid as long as this object.
    """

    def __init__(
        self,
        *,
        variant: str | None = None,
        options: str | Sequence[str] | None = None,
        constants: Mapping[int, ConstantValue] | None = None,
        fallback: Fallback = Fallback.IF_NEEDED,
        answers: Answers = Answers.NEVER,
        problem_size: Sequence[int] = (),
    ) -> None:
        values = _bytes_of_constants(constants)
        self._values = [create_string_buffer(value, len(value)) for _, value in values]
        self._constants = (ConstantStruct * len(values))(
            *(
                ConstantStruct(number, len(value), cast(buffer, c_void_p))
                for (number, value), buffer in zip(values, self._values)
            )
        )
        self._problem_size = (c_size_t * len(problem_size))(*problem_size)
        self._struct = LoadOptionsStruct(
            struct_size=sizeof(LoadOptionsStruct),
            variant=None if variant is None else argument(variant, "variant"),
            build_options=None if options is None else argument(joined(options), "options"),
            fallback=Fallback(fallback),
            constants=cast(self._constants, POINTER(ConstantStruct)),
            constant_count=len(self._constants),
            resolve=resolver(),
            answers=library.clbin_check_answers(Answers(answers)),
            problem_size=cast(self._problem_size, POINTER(c_size_t)),
            problem_dimensions=len(problem_size),
        )
        self.pointer = pointer(self._struct)


def _bytes_of_constants(constants: Mapping[int, ConstantValue] | None) -> list[tuple[int, bytes]]:
    if constants is None:
        return []
    import collections.abc  # here, because it would slow `import clbin`

    if not isinstance(constants, collections.abc.Mapping):
        raise TypeError(f"'constants' must be a mapping, not {type(constants).__name__}")
    for number in constants:
        if not isinstance(number, int) or not 0 <= number < 2**32:
            raise _invalid(f"{number!r} is not the SpecId of a specialization constant")
    return [(number, _bytes_of(value)) for number, value in constants.items()]


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
