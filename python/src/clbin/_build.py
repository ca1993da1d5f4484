"""Source that is known only at run time: a cached replacement of pyopencl.Program.build."""

from __future__ import annotations

import os
import weakref
from ctypes import (
    POINTER,
    byref,
    c_char_p,
    c_size_t,
    c_void_p,
    cast,
    create_string_buffer,
    pointer,
    sizeof,
)

from ._bundle import Bundle, _limit, _report_or_new, policy_of, switch_of
from ._enums import Fallback
from ._errors import argument, call
from ._handle import Handle
from ._library import BuilderOptions, Source, library
from ._load_options import LoadOptions
from ._opencl import (
    build_options,
    context_pointer,
    device_pointers,
    new_program,
    program_pointer,
)
from ._report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Union

    import pyopencl

    from ._load_options import ConstantValue
    from ._opencl import Devices

    SourceText = Union[str, bytes]

_SPIRV_MAGIC = (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")


class _BuildCall:
    """The parameters of clbin_build that clbin_builder_keep has, too."""

    def __init__(
        self,
        context: pyopencl.Context,
        source: SourceText,
        options: str | Sequence[str] | None,
        devices: Devices,
        label: str | None,
    ) -> None:
        self.context = context_pointer(context)
        pointers = device_pointers(context, devices)
        self.device_count = len(pointers)
        self.devices = (c_void_p * len(pointers))(*pointers)
        text = build_options(context, options)
        self.source = Source(
            struct_size=sizeof(Source),
            options=argument(text, "options"),
            label=None if label is None else argument(label, "label"),
        )
        self._set_source(source)

    def _set_source(self, source: SourceText) -> None:
        if isinstance(source, bytes):
            content = source
        elif isinstance(source, str):
            content = source.encode("utf-8", "surrogateescape")
        else:
            raise TypeError(f"'source' must be str or bytes, not {type(source).__name__}")
        self._content = create_string_buffer(content, len(content) + 1)
        if content.startswith(_SPIRV_MAGIC):
            self.source.il = cast(self._content, c_void_p)
            self.source.il_bytes = len(content)
            return
        self._strings = (c_char_p * 1)(cast(self._content, c_char_p))
        self._lengths = (c_size_t * 1)(len(content))
        self.source.strings = cast(self._strings, POINTER(c_char_p))
        self.source.lengths = cast(self._lengths, POINTER(c_size_t))
        self.source.string_count = 1

    def arguments(self, builder: c_void_p | None, options: LoadOptions) -> tuple[object, ...]:
        return (
            builder,
            self.context,
            self.devices,
            self.device_count,
            pointer(self.source),
            options.pointer,
        )


def build(
    context: pyopencl.Context,
    source: SourceText,
    options: str | Sequence[str] | None = None,
    devices: Devices = None,
    *,
    constants: Mapping[int, ConstantValue] | None = None,
    fallback: Fallback = Fallback.IF_NEEDED,
    label: str | None = None,
    report: Report | None = None,
) -> pyopencl.Program:
    """Returns what `pyopencl.Program(context, source).build(options, devices)` returns, but takes
    it from the user cache if an earlier process has built the same program.

    source: OpenCL C, or the bytes of a SPIR-V module.
    options: a str, or words that are joined by blanks, as PyOpenCL does. Like PyOpenCL, adds the
    directory of PyOpenCL's headers and the environment variable PYOPENCL_BUILD_OPTIONS.
    devices: a pyopencl.Device or a sequence of them; None means all devices of `context`.
    constants: the specialization constants of SPIR-V, as in Bundle.load.
    label: a name that stays the same if the source changes, such as "matmul". The report of a
    build then names the first line or option that differs from what was stored last.
    report: filled, also if the build fails.

    On PoCL, which has a cache of its own, this builds the program each time (see Builder).
    Thread-safe. Blocks without the GIL while the driver works.
    Raises BuildError, OpenCLError, SelectionError, ArgumentError.
    """
    request = _BuildCall(context, source, options, devices, label)
    return _build(None, request, constants, fallback, report)


class Builder:
    """The cache settings and the bundles of many builds.

        with clbin.Builder(cache_on_pocl=True) as builder:
            builder.add_bundle(clbin.Bundle("recorded.clbin"))
            program = builder.build(context, source)

    cache: whether builds use the user cache. None: as the environment variable CLBIN_CACHE says.
    cache_on_pocl: whether keep() stores binaries of PoCL. None: CLBIN_CACHE_POCL, or no.
    cache_dir: an absolute path. None: CLBIN_CACHE_DIR, or the user's cache directory.
    cache_max_bytes: 0: CLBIN_CACHE_MAX_SIZE, or 512 MiB.
    require_signatures: whether only bundles that were opened with public_keys serve; nothing is
    then built unless unsigned_builds is True.

    Thread-safe. close() takes effect when the calls of other threads have returned.
    """

    def __init__(
        self,
        *,
        cache: bool | None = None,
        cache_on_pocl: bool | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        cache_max_bytes: int = 0,
        require_signatures: bool = False,
        unsigned_builds: bool | None = None,
    ) -> None:
        options = BuilderOptions(
            struct_size=sizeof(BuilderOptions),
            cache=switch_of(cache),
            cache_on_pocl=switch_of(cache_on_pocl),
            cache_dir=None if cache_dir is None else argument(os.fspath(cache_dir), "cache_dir"),
            cache_max_bytes=_limit(cache_max_bytes, "cache_max_bytes"),
            signature_policy=policy_of(require_signatures),
            unsigned_builds=switch_of(unsigned_builds),
        )
        builder = c_void_p()
        call(library.clbin_builder_create, byref(options), byref(builder))
        bundles: list[Handle] = []

        def close(opened: c_void_p) -> None:
            library.clbin_builder_free(opened)
            for bundle in bundles:
                bundle.__exit__(None, None, None)

        self._bundles = bundles
        self._handle = Handle(builder, close, "builder")
        weakref.finalize(self, self._handle.close)

    def close(self) -> None:
        """Frees the builder. Blocks until the user cache contains what builds have produced."""
        self._handle.close()

    @property
    def closed(self) -> bool:
        """Whether the builder is closed."""
        return self._handle.is_closed

    def __enter__(self) -> Builder:
        with self._handle:
            return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def add_bundle(self, bundle: Bundle) -> None:
        """Adds the entries of a bundle to those that builds may use, after earlier bundles. The
        bundle stays open until the builder is closed, also if Bundle.close() is called."""
        if not isinstance(bundle, Bundle):
            raise TypeError(f"'bundle' must be a clbin.Bundle, not {type(bundle).__name__}")
        with self._handle as builder:
            handle = bundle._handle
            opened = handle.__enter__()
            try:
                call(library.clbin_builder_add_bundle, builder, opened)
            except BaseException:
                handle.__exit__(None, None, None)
                raise
            self._bundles.append(handle)

    def build(
        self,
        context: pyopencl.Context,
        source: SourceText,
        options: str | Sequence[str] | None = None,
        devices: Devices = None,
        *,
        constants: Mapping[int, ConstantValue] | None = None,
        fallback: Fallback = Fallback.IF_NEEDED,
        label: str | None = None,
        report: Report | None = None,
    ) -> pyopencl.Program:
        """Does what clbin.build() does, with the settings and the bundles of this builder."""
        request = _BuildCall(context, source, options, devices, label)
        with self._handle as builder:
            return _build(builder, request, constants, fallback, report)

    def keep(
        self,
        context: pyopencl.Context,
        source: SourceText,
        program: pyopencl.Program,
        options: str | Sequence[str] | None = None,
        devices: Devices = None,
        *,
        label: str | None = None,
        report: Report | None = None,
    ) -> None:
        """Stores the binary of a program that build() returned for the same arguments.

        Only needed for PoCL, and only with cache_on_pocl. Call it after the first launches: PoCL
        compiles a kernel for a work-group size when it is first launched with it.
        """
        request = _BuildCall(context, source, options, devices, label)
        built = program_pointer(program)
        filled = _report_or_new(report)
        raw_report = c_void_p()
        with self._handle as builder, LoadOptions() as load_options:
            call(
                library.clbin_builder_keep,
                *request.arguments(builder, load_options),
                built,
                byref(raw_report),
                report=lambda: filled._fill(raw_report),
            )
        filled._fill(raw_report)


def _build(
    builder: c_void_p | None,
    request: _BuildCall,
    constants: Mapping[int, ConstantValue] | None,
    fallback: Fallback,
    report: Report | None,
) -> pyopencl.Program:
    filled = _report_or_new(report)
    result, raw_report = c_void_p(), c_void_p()
    with LoadOptions() as load_options:
        load_options.set_constants(constants)
        load_options.set_fallback(fallback)
        call(
            library.clbin_build,
            *request.arguments(builder, load_options),
            byref(result),
            byref(raw_report),
            report=lambda: filled._fill(raw_report),
        )
    filled._fill(raw_report)
    return new_program(result)
