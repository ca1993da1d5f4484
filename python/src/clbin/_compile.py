"""Compiling with the oclcc of the package."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from ._command import command_path
from ._enums import ExitStatus, Status
from ._errors import ArgumentError, CompileError, exit_status_of

Path = Union[str, "os.PathLike[str]"]
Words = Union[str, Sequence[str]]


@dataclass(frozen=True)
class Diagnostic:
    """A message of a compiler or of oclcc.

    severity: "error", "warning" or "note".
    file: as it was passed to compile(), or None; line and column are then 0. Both start at 1, and
    a column counts bytes.
    option: the option that controls the message, such as "-Wunused", or "".
    source_line: the text of the line, or "".
    devices: those that reported the message; empty if every device did.
    """

    severity: str
    message: str
    file: str | None = None
    line: int = 0
    column: int = 0
    option: str = ""
    source_line: str = ""
    devices: tuple[str, ...] = ()
    notes: tuple[Diagnostic, ...] = ()

    def __str__(self) -> str:
        place = [self.file or "oclcc", *(str(each) for each in (self.line, self.column) if each)]
        option = f" [{self.option}]" if self.option else ""
        lines = [f"{':'.join(place)}: {self.severity}: {self.message}{option}"]
        return "\n".join(lines + [str(note) for note in self.notes])


@dataclass(frozen=True)
class Compilation:
    """What compile() returns.

    output: the path of the file that oclcc wrote, or None.
    data: the bytes of the bundle if there is no path, otherwise b"".
    diagnostics: warnings and notes.
    """

    output: str | None
    data: bytes
    diagnostics: tuple[Diagnostic, ...]


def compile(
    inputs: Path | Sequence[Path],
    *,
    output: Path | None = None,
    options: Words = (),
    targets: Words = (),
    devices: Words = (),
    variants: Mapping[str, str] | None = None,
    specialize: Mapping[str, Sequence[int]] | None = None,
    source: bool = True,
    keep_going: bool = False,
    jobs: int = 0,
    timeout: float = 0,
    arguments: Sequence[str] = (),
) -> Compilation:
    """Compiles OpenCL C with oclcc(1).

        clbin.compile(["blur.cl"], output="blur.clbin", targets=["nvptx:sm_70"])

    inputs: .cl files, or bundles whose sources are compiled again.
    output: a path, whose suffix selects the format (oclcc(1), -o). None: Compilation.data has the
    bundle.
    options: build options, such as "-DN=3 -Iinclude"; a str is split as a shell does.
    targets: offline targets. devices: patterns of installed devices. If both are empty, compiles
    for every installed device.
    variants: the build options of each variant, by name.
    specialize: the work-group size of each kernel, in work-items: {"matmul": (16, 16)}.
    source: whether the bundle contains the source.
    keep_going: writes what did compile if a unit fails; raises CompileError nevertheless.
    jobs: compiles that run at the same time; 0: as many as there are cores.
    timeout: seconds for each unit; 0: the default of oclcc.
    arguments: other arguments of oclcc.

    Runs a process, and does not use PyOpenCL. Raises CompileError, which has the file, the line
    and the message.
    """
    command = [command_path(), "--diagnostics-format=json", "--color=never"]
    command += [word for each in _words(targets, "targets") for word in ("--target", each)]
    command += [word for each in _words(devices, "devices") for word in ("--device", each)]
    for name, words in (variants or {}).items():
        command += ["--variant", f"{name}={words}"]
    command += _sizes(specialize)
    command += [] if source else ["--no-source"]
    command += ["--keep-going"] if keep_going else []
    command += ["-j", str(int(jobs))] if jobs else []
    command += ["--timeout", str(timeout)] if timeout else []
    command += shlex.split(options) if isinstance(options, str) else list(options)
    command += list(arguments)
    path = None if output is None else os.fspath(output)
    command += ["-o", "-" if path is None else _file(path)]
    command += [_file(os.fspath(each)) for each in _paths(inputs)]
    return _run(command, path)


def warm(
    bundles: Path | Sequence[Path],
    *,
    devices: Words = (),
    specialize: Mapping[str, Sequence[int]] | None = None,
    timeout: float = 0,
) -> str:
    """Stores what the next start would have to build in the user cache: oclcc-tuning(7).

        clbin.warm("blur.clbin")

    devices, specialize, timeout: as for compile(); a timeout is for one load.

    Returns a line for each device. Runs a process, and does not use PyOpenCL. Raises CompileError
    if a program does not load, after the others were loaded.
    """
    command = [command_path(), "--warm", "--diagnostics-format=json", "--color=never"]
    command += [word for each in _words(devices, "devices") for word in ("--device", each)]
    command += _sizes(specialize)
    command += ["--timeout", str(timeout)] if timeout else []
    command += [_file(os.fspath(each)) for each in _paths(bundles)]
    return _run(command, None).data.decode("utf-8", "replace")


def _sizes(specialize: Mapping[str, Sequence[int]] | None) -> list[str]:
    sizes = (
        f"{kernel}={'x'.join(str(int(each)) for each in size)}"
        for kernel, size in (specialize or {}).items()
    )
    return [word for size in sizes for word in ("--specialize", size)]


def _run(
    command: list[str], output: str | None, statuses: Sequence[int] = (ExitStatus.DONE,)
) -> Compilation:
    """Raises CompileError if oclcc ends with another status than these."""
    for word in command:
        if not isinstance(word, str):
            raise TypeError(f"an argument of oclcc must be str, not {type(word).__name__}")
        if "\0" in word:
            raise ArgumentError(
                Status.INVALID_ARGUMENT, "an argument of oclcc contains a zero byte"
            )
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    errors = done.stderr.decode("utf-8", "backslashreplace").rstrip("\n")
    diagnostics, is_document = _parse(errors)
    if done.returncode in statuses:
        return Compilation(output, done.stdout, diagnostics)
    first = next((each.message for each in diagnostics if each.severity == "error"), "")
    if not is_document:
        first = errors  # the command line, or a signal
    message = first or f"oclcc failed with status {done.returncode}"
    raise CompileError(exit_status_of(done.returncode), message, diagnostics)


def _parse(errors: str) -> tuple[tuple[Diagnostic, ...], bool]:
    try:
        document = json.loads(errors)
        return tuple(_diagnostic(each) for each in document["diagnostics"]), True
    except (ValueError, TypeError, KeyError):
        return (), errors == ""


def _diagnostic(value: Mapping[str, Any]) -> Diagnostic:
    return Diagnostic(
        severity=value["severity"],
        message=value["message"],
        file=value.get("file"),
        line=value.get("line", 0),
        column=value.get("column", 0),
        option=value.get("option", ""),
        source_line=value.get("source_line", ""),
        devices=tuple(value.get("devices", ())),
        notes=tuple(_diagnostic(note) for note in value.get("notes", ())),
    )


def _paths(inputs: Path | Sequence[Path]) -> list[Path]:
    if isinstance(inputs, (str, os.PathLike)):
        return [inputs]
    return list(inputs)


def _words(words: Words, name: str) -> list[str]:
    result = [words] if isinstance(words, str) else list(words)
    for word in result:
        if not isinstance(word, str):
            raise TypeError(f"'{name}' must contain str, not {type(word).__name__}")
    return result


def _file(path: str) -> str:
    """Returns a path that oclcc does not take for an option, a response file or standard input."""
    if not isinstance(path, str):
        raise TypeError(f"a path must be str, not {type(path).__name__}")
    return os.path.join(".", path) if path.startswith(("-", "@")) else path
