"""OpenCL device binaries from bundles, and a cache for programs that are built at run time.

    import clbin

    clbin.compile(["matmul.cl"], output="matmul.clbin")
    program = clbin.Bundle("matmul.clbin").load(context, device, "matmul")
    program = clbin.build(context, source)      # pyopencl.Program(context, source).build(), cached

Loading and building programs requires PyOpenCL. Everything else works without it. Functions and
classes are thread-safe unless they state otherwise, and release the GIL while drivers work. Loading
a bundle means running it: load only bundles that you trust.
"""

from __future__ import annotations

from ._build import Builder, build
from ._bundle import Bundle, identity
from ._command import layer_path
from ._enums import Answers, Decision, ExitStatus, Fallback, Origin, Rule, Status
from ._errors import (
    ArgumentError,
    BuildError,
    BundleError,
    BundleNotFoundError,
    ClosedError,
    CompileError,
    EncryptedError,
    Error,
    FileError,
    InternalError,
    OpenCLError,
    OutOfMemoryError,
    SelectionError,
    TrustError,
)
from ._report import Report
from ._version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._attempt import Attempt
    from ._compile import Compilation, Diagnostic, compile, warm
    from ._contents import (
        Argument,
        Entry,
        Identity,
        Kernel,
        ProgramContents,
        Selection,
        Variant,
        Warmed,
    )
    from ._key import Key, KeyRequest

# Imported at first use: dataclasses, json and subprocess take longer than all the rest.
_LAZY = {
    "Argument": "_contents",
    "Attempt": "_attempt",
    "Compilation": "_compile",
    "Diagnostic": "_compile",
    "Entry": "_contents",
    "Identity": "_contents",
    "Kernel": "_contents",
    "Key": "_key",
    "KeyRequest": "_key",
    "ProgramContents": "_contents",
    "Selection": "_contents",
    "Variant": "_contents",
    "Warmed": "_contents",
    "compile": "_compile",
    "warm": "_compile",
}

__all__ = [
    "Answers",
    "Argument",
    "ArgumentError",
    "Attempt",
    "BuildError",
    "Builder",
    "Bundle",
    "BundleError",
    "BundleNotFoundError",
    "ClosedError",
    "Compilation",
    "CompileError",
    "Decision",
    "Diagnostic",
    "EncryptedError",
    "Entry",
    "Error",
    "ExitStatus",
    "Fallback",
    "FileError",
    "Identity",
    "InternalError",
    "Kernel",
    "Key",
    "KeyRequest",
    "OpenCLError",
    "Origin",
    "OutOfMemoryError",
    "ProgramContents",
    "Report",
    "Rule",
    "Selection",
    "SelectionError",
    "Status",
    "TrustError",
    "Variant",
    "Warmed",
    "__version__",
    "build",
    "compile",
    "identity",
    "layer_path",
    "warm",
]


def __getattr__(name: str) -> object:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'clbin' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
