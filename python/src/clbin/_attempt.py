"""The attempts of a report."""

from __future__ import annotations

from dataclasses import dataclass

from ._enums import Decision, Origin, Rule


@dataclass(frozen=True)
class Attempt:
    """One step of a load.

    device: an index in the devices of the load.
    target: of the entry; "" if the step is not about one entry.
    entry: an index in the entries of the variant, or None.
    pack: the name of the pack that contains the entry, or "".
    stage: the OpenCL call that returned `cl_code`, or "".
    """

    decision: Decision
    origin: Origin
    device: int
    target: str
    rule: Rule
    reason: str
    stage: str
    driver_log: str
    cl_code: int
    cl_code_name: str
    entry: int | None
    microseconds: int
    pack: str
