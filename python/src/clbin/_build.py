"""Source that is known only at run time: a cached replacement of pyopencl.Program.build."""

from __future__ import annotations

import os
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
from ._enums import Fallback, Switch
from ._errors import argument, call
from ._handle import Handle, Owner
from ._library import BuilderOptions, Source, library
from ._load_options import LoadOptions
from ._opencl import (
    build_options,
    context_pointer,
    devices_of,
    new_program,
)
from ._report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Callable, Union

    import pyopencl

    from ._load_options import ConstantValue
    from ._opencl import Devices

    SourceText = Union[str, bytes]

_POCL = "Portable Computing Language"
_SPIRV_MAGIC = (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")


class _BuildCall:
    """The arguments of clbin_build."""

    def __init__(
        self,
        context: pyopencl.Context,
        source: SourceText,
        options: str | Sequence[str] | None,
        devices: Devices,
        label: str | None,
        constants: Mapping[int, ConstantValue] | None,
    ) -> None:
        self.context = context_pointer(context)
        self._devices = devices_of(context, devices)
        self._owner = context  # of what self.context points to
        self._constants = constants
        pointers = [int(device.int_ptr) for device in self._devices]
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

    def is_on_pocl(self) -> bool:
        """Whether one of the devices is PoCL's."""
        return any(device.platform.name == _POCL for device in self._devices)

    def build(
        self, builder: c_void_p | None, fallback: Fallback, report: Report
    ) -> pyopencl.Program:
        result = c_void_p()
        self._call(library.clbin_build, builder, fallback, byref(result), report)
        return new_program(result)

    def _call(
        self,
        function: Callable[..., int],
        builder: c_void_p | None,
        fallback: Fallback,
        program: object,
        report: Report,
    ) -> None:
        raw_report = c_void_p()
        options = LoadOptions(constants=self._constants, fallback=fallback)
        call(
            function,
            builder,
            self.context,
            self.devices,
            self.device_count,
            pointer(self.source),
            options.pointer,
            program,
            byref(raw_report),
            report=lambda: report._fill(raw_report),
        )
        report._fill(raw_report)


class _Builds:
    """The method that clbin.build is, and that each Builder has."""

    def _builder_for(self, request: _BuildCall) -> Builder | None:
        """Returns the builder whose settings and bundles are used, or None for the defaults."""
        raise NotImplementedError

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
        """Returns what `pyopencl.Program(context, source).build(options, devices)` returns, but
        takes it from the user cache if an earlier process has built the same program.

        source: OpenCL C, or the bytes of a SPIR-V module.
        options: a str, or words that are joined by blanks, as PyOpenCL does. Like PyOpenCL, adds
        the directory of PyOpenCL's headers and the environment variable PYOPENCL_BUILD_OPTIONS.
        devices: a pyopencl.Device or a sequence of them; None means all devices of `context`.
        constants: the specialization constants of SPIR-V, as in Bundle.load.
        label: a name that stays the same if the source changes, such as "matmul". The report of a
        build then names the first line or option that differs from what was stored last.
        report: filled, also if the build fails.

        On PoCL, stores the binary later, unless CLBIN_CACHE_POCL is 0: see Builder.
        Thread-safe. Blocks without the GIL while the driver works.
        Raises BuildError, OpenCLError, SelectionError, ArgumentError.
        """
        request = _BuildCall(context, source, options, devices, label, constants)
        filled = _report_or_new(report)
        builder = self._builder_for(request)
        if builder is None:
            return request.build(None, fallback, filled)
        with builder._handle as opened:
            return request.build(opened, fallback, filled)


class Builder(_Builds, Owner):
    """The cache settings and the bundles of many builds.

        with clbin.Builder() as builder:
            builder.add_bundle(clbin.Bundle("recorded.clbin"))
            program = builder.build(context, source)

    cache: whether builds use the user cache. None: as the environment variable CLBIN_CACHE says.
    cache_on_pocl: whether the user cache stores binaries of PoCL, too. PoCL compiles a kernel for a
    work-group size when it is first launched with it. The builder therefore requests a binary on a
    thread of its own, one second after the last build, and when it is closed or the process ends,
    for which PoCL takes some tenths of a second a kernel. Later starts are about four times as fast
    as with PoCL's own cache. None: unless CLBIN_CACHE_POCL is 0. (In C, the default is off unless
    there is a cache_dir.)
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
            cache_on_pocl=switch_of(_default_on_pocl() if cache_on_pocl is None else cache_on_pocl),
            cache_dir=None if cache_dir is None else argument(os.fspath(cache_dir), "cache_dir"),
            cache_max_bytes=_limit(cache_max_bytes, "cache_max_bytes"),
            signature_policy=policy_of(require_signatures),
            unsigned_builds=switch_of(unsigned_builds),
            reuse=Switch.OFF,  # a program ends with its object, and with it the context
        )
        builder = c_void_p()
        call(library.clbin_builder_create, byref(options), byref(builder))
        self._own(Handle(builder, library.clbin_builder_free, "builder"))

    def _builder_for(self, request: _BuildCall) -> Builder:
        return self

    def add_bundle(self, bundle: Bundle) -> None:
        """Adds the entries of a bundle to those that builds may use, after earlier bundles. The
        bundle stays open until the builder is closed, also if Bundle.close() is called. If it is
        encrypted, and opened without decrypted_builds, builds of its sources do not use the user
        cache. Raises EncryptedError if it was opened without a key."""
        if not isinstance(bundle, Bundle):
            raise TypeError(f"'bundle' must be a clbin.Bundle, not {type(bundle).__name__}")
        with self._handle as builder:
            opened = self._handle.hold(bundle._handle)
            try:
                call(library.clbin_builder_add_bundle, builder, opened)
            except BaseException:
                self._handle.release(bundle._handle)
                raise


class _DefaultBuilds(_Builds):
    """Builds with the settings of the environment."""

    def __init__(self) -> None:
        self._until_exit: Builder | None = None  # for PoCL

    def _builder_for(self, request: _BuildCall) -> Builder | None:
        if not _default_on_pocl() or not request.is_on_pocl():
            return None
        if self._until_exit is None or self._until_exit.closed:  # in a forked child
            self._until_exit = Builder()
        return self._until_exit


def _default_on_pocl() -> bool:
    """PyOpenCL's cache serves PoCL, too, and clbin.build replaces it."""
    return os.environ.get("CLBIN_CACHE_POCL") != "0"


build = _DefaultBuilds().build
