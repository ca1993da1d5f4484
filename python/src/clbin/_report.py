"""The report of a load or a build."""

from __future__ import annotations

import weakref
from ctypes import c_void_p

from ._enums import Decision, Origin, Rule
from ._errors import filled, text_of
from ._library import AttemptStruct, ReportStruct, library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

    from ._attempt import Attempt


class Report:
    """What a load or a build did, including one that failed.

    Pass an object to `Bundle.load` or `build`, which fills it:

        report = clbin.Report()
        program = bundle.load(context, device, "matmul", report=report)
        print(report)

    str() returns text for people, with one line for each attempt. Until it is passed to a load, a
    report is empty. Do not pass one object to several threads at the same time.
    """

    def __init__(self) -> None:
        self._pointer = c_void_p()
        self._free: Callable[[], object] | None = None

    def _fill(self, pointer: c_void_p) -> Report:
        """Takes the ownership of a clbin_report, which may be NULL."""
        if self._free is not None:
            self._free()
        self._pointer = pointer
        free = weakref.finalize(self, library.clbin_report_free, pointer)
        free.atexit = False  # nothing is lost
        self._free = free
        return self

    @property
    def _raw(self) -> ReportStruct:
        if not self._pointer:
            return ReportStruct()  # nothing is filled
        return filled(ReportStruct, library.clbin_report_get, self._pointer)

    @property
    def origin(self) -> Origin:
        """Where the program came from."""
        return Origin(self._raw.origin)

    @property
    def microseconds(self) -> int:
        """The duration of the whole load."""
        return int(self._raw.microseconds)

    @property
    def program(self) -> str:
        """The name of the program."""
        return text_of(self._raw.program)

    @property
    def variant(self) -> str:
        """The variant that was loaded."""
        return text_of(self._raw.variant)

    @property
    def variant_reason(self) -> str:
        """Where the extensions that the variant requires are; "" if it requires none."""
        return text_of(self._raw.variant_reason)

    @property
    def extensions(self) -> tuple[str, ...]:
        """The extensions that -cl-ext requested for the program."""
        return tuple(text_of(self._raw.extensions).split())

    @property
    def devices(self) -> tuple[str, ...]:
        """ "PLATFORM / DEVICE / DRIVER VERSION" of each device."""
        raw = self._raw
        return tuple(text_of(raw.devices[index]) for index in range(raw.device_count))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Problems that did not fail the load."""
        raw = self._raw
        return tuple(text_of(raw.warnings[index]) for index in range(raw.warning_count))

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt, in order."""
        return tuple(self._attempt(index) for index in range(self._raw.attempt_count))

    def _attempt(self, index: int) -> Attempt:
        from ._attempt import Attempt

        raw = filled(AttemptStruct, library.clbin_report_attempt, self._pointer, index)
        return Attempt(
            decision=Decision(raw.decision),
            origin=Origin(raw.origin),
            device=raw.device,
            target=text_of(raw.target),
            rule=Rule(raw.rule_number),
            reason=text_of(raw.reason),
            stage=text_of(raw.stage),
            driver_log=text_of(raw.driver_log),
            cl_code=raw.cl_code,
            cl_code_name=text_of(raw.cl_code_name),
            entry=raw.entry if raw.entry >= 0 else None,
            microseconds=raw.microseconds,
            pack=text_of(raw.pack),
        )

    def json(self) -> str:
        """Returns one line of JSON. libclbin(3), Reports, lists its members."""
        return text_of(library.clbin_report_json(self._pointer)) or "{}"

    def __str__(self) -> str:
        return text_of(library.clbin_report_text(self._pointer)).rstrip("\n")

    def __repr__(self) -> str:
        return f"<clbin.Report of {self.program!r}: {self.origin.name}>"
