"""Bundles: opening, listing, selecting, loading."""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_size_t, c_uint32, c_uint64, c_void_p, create_string_buffer, sizeof

from ._enums import Answers, Fallback, Rule, SignaturePolicy, Status, Switch
from ._errors import ArgumentError, Error, argument, call, filled, name_of, text_of
from ._handle import Handle, Owner
from ._library import (
    IdentityStruct,
    OpenOptions,
    SelectionStruct,
    WarmedStruct,
    WriteFunction,
    library,
)
from ._load_options import LoadOptions
from ._opencl import context_pointer, device_pointer, device_pointers, new_program
from ._report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Callable, Union

    import pyopencl

    from ._contents import Entry, Identity, ProgramContents, Selection, Warmed
    from ._key import KeyOption
    from ._load_options import ConstantValue
    from ._opencl import Devices

    BytesLike = Union[bytes, bytearray, memoryview]


class Bundle(Owner):
    """An open bundle.

        with clbin.Bundle("kernels.clbin") as bundle:
            program = bundle.load(context, device, "matmul")

    source: a path, or the bytes of a bundle, which are copied. A file stays open until close(). A
    directory is that of a base and its packs (clbin_open_set), which serve load() and select().
    max_directory_bytes, max_raw_bytes, max_total_raw_bytes, max_memory_bytes: the limits of
    libclbin(3), Opening. 0 means the default.
    public_keys: the keys that the caller trusts, as 32 bytes each or as the text of a public key
    file ("RW..."). The bundle must then be signed by one of them. None: no signature is required.
    unsigned_builds: with public_keys: whether loads use the user cache, whose entries nobody
    signed. None: no.
    least_counter: with public_keys: the smallest counter of the bundle that is accepted.
    key: opens an encrypted bundle: 32 bytes (a content key, in any bytes-like object), the text of
    a key file, a Key, or a function that receives a KeyRequest and returns one of these. The
    function is called once, while the bundle is opened, only if the bundle is encrypted, and after
    required signatures were checked; what it raises is raised here. None: only names, options,
    sizes and targets of an encrypted bundle can be read.
    decrypted_builds: with key: whether loads from an encrypted bundle use the user cache, which is
    not encrypted. None: no.
    cache_dir: of the user cache of loads, an absolute path. None: CLBIN_CACHE_DIR, or the user's
    cache directory.

    A program stays valid after its bundle is closed. Thread-safe: close() takes effect when the
    calls of other threads have returned. A forked child can use the bundle unless another thread
    was using it during the fork, in which case it is closed in the child, or the bundle is
    encrypted: the child does not get its key.

    Raises BundleNotFoundError, FileError, BundleError, EncryptedError, TrustError, ArgumentError.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | BytesLike,
        *,
        max_directory_bytes: int = 0,
        max_raw_bytes: int = 0,
        max_total_raw_bytes: int = 0,
        max_memory_bytes: int = 0,
        public_keys: Sequence[str | bytes] | None = None,
        unsigned_builds: bool | None = None,
        least_counter: int = 0,
        key: KeyOption | None = None,
        decrypted_builds: bool | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        keys = None if public_keys is None else key_bytes(public_keys)
        limits = OpenOptions(
            struct_size=sizeof(OpenOptions),
            max_directory_bytes=_limit(max_directory_bytes, "max_directory_bytes"),
            max_raw_bytes=_limit(max_raw_bytes, "max_raw_bytes"),
            max_total_raw_bytes=_limit(max_total_raw_bytes, "max_total_raw_bytes"),
            max_memory_bytes=_limit(max_memory_bytes, "max_memory_bytes"),
            public_keys=None if keys is None else ctypes.addressof(keys),
            public_key_count=0 if keys is None else len(keys) // KEY_BYTES,
            signature_policy=policy_of(public_keys is not None),
            unsigned_builds=switch_of(unsigned_builds),
            least_counter=_limit(least_counter, "least_counter"),
            decrypted_builds=switch_of(decrypted_builds),
            cache_dir=None if cache_dir is None else argument(os.fspath(cache_dir), "cache_dir"),
        )
        pointer = c_void_p()
        content = None
        if isinstance(source, (str, os.PathLike)):
            self._name = os.fspath(source)
            path = argument(self._name, "source")
            has_packs = os.path.exists(os.path.join(source, "base.clbin"))
            opens = library.clbin_open_set if has_packs else library.clbin_open
            _open(key, opens, path, limits, pointer)
        else:
            content = _copy(source)
            self._name = f"{len(content)} bytes"
            _open(key, library.clbin_open_memory, content, len(content), limits, pointer)

        def close(opened: c_void_p, _content: object = content) -> None:
            library.clbin_close(opened)

        self._own(Handle(pointer, close, "bundle"))
        self._programs: Mapping[str, ProgramContents] | None = None

    def __repr__(self) -> str:
        return f"<clbin.Bundle {self._name!r}{' (closed)' if self.closed else ''}>"

    def verify(self) -> None:
        """Reads every byte and checks every digest. Raises BundleError if the bundle is invalid,
        and EncryptedError if it was opened without a key and all but its contents is valid."""
        with self._handle as bundle:
            call(library.clbin_verify, bundle)

    @property
    def is_current(self) -> bool:
        """Whether the path that was opened still leads to the same, unchanged file. If not, open
        it again. Always True for a bundle from bytes."""
        with self._handle as bundle:
            return bool(library.clbin_is_current(bundle))

    @property
    def counter(self) -> int:
        """The highest counter by a trusted key, 0 if there is none. Keep the highest value and
        pass it as least_counter the next time. Raises ArgumentError without public_keys."""
        number = c_uint64()
        with self._handle as bundle:
            call(library.clbin_counter, bundle, byref(number))
        return number.value

    @property
    def programs(self) -> Mapping[str, ProgramContents]:
        """The programs by name, with their variants, entries and kernels."""
        from ._contents import read_programs

        with self._handle as bundle:
            if self._programs is None:
                self._programs = read_programs(bundle)
            return self._programs

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The device binaries of all programs and variants."""
        return tuple(entry for program in self.programs.values() for entry in program.entries)

    def json(self) -> str:
        """Returns what `oclcc --info --json` prints for the bundle. Raises BundleError if a part
        of the bundle is invalid."""
        parts: list[bytes] = []

        def write(text: int, size: int, _user_data: object) -> int:
            parts.append(ctypes.string_at(text, size))
            return 0

        with self._handle as bundle:
            call(library.clbin_list_json, bundle, WriteFunction(write), None)
        return b"".join(parts).decode("utf-8")

    def select(self, identity: Identity, program: str, variant: str | None = None) -> Selection:
        """Returns the best entry for a device, without any OpenCL call.

        Raises SelectionError, BundleError.
        """
        from ._contents import Identity

        if not isinstance(identity, Identity):
            raise TypeError(f"'identity' must be a clbin.Identity, not {type(identity).__name__}")
        device = _identity_struct(identity)
        name = argument(program, "program")
        variant_name = None if variant is None else argument(variant, "variant")
        selection = c_void_p()
        with self._handle as bundle:
            call(library.clbin_select, bundle, byref(device), name, variant_name, byref(selection))
        try:
            return _read_selection(selection)
        finally:
            library.clbin_selection_free(selection)

    def recommended_size(
        self,
        device: pyopencl.Device,
        program: str,
        kernel: str,
        global_size: Sequence[int],
        *,
        variant: str | None = None,
    ) -> tuple[int, ...] | None:
        """Returns the size of work-groups that was the fastest for such a launch, by measurements
        in the bundle (oclcc-tuning(7)). None: let the driver choose.

        variant: that which was loaded (Report.variant); None means "default".

        Raises SelectionError, OpenCLError, BundleError, ArgumentError.
        """
        sizes = (c_size_t * len(global_size))(*global_size)
        local_size = (c_size_t * len(global_size))()
        handle = device_pointer(device)
        name, kernel_name = argument(program, "program"), argument(kernel, "kernel")
        variant_name = None if variant is None else argument(variant, "variant")
        load_options = LoadOptions()
        with self._handle as bundle:
            call(
                library.clbin_recommended_size,
                bundle,
                handle,
                name,
                variant_name,
                kernel_name,
                sizes,
                len(global_size),
                load_options.pointer,
                local_size,
            )
        return tuple(local_size) if local_size[0] else None

    def load(
        self,
        context: pyopencl.Context,
        device: Devices,
        program: str,
        *,
        variant: str | None = None,
        options: str | Sequence[str] | None = None,
        constants: Mapping[int, ConstantValue] | None = None,
        fallback: Fallback = Fallback.IF_NEEDED,
        answers: Answers = Answers.NEVER,
        problem_size: Sequence[int] = (),
        report: Report | None = None,
    ) -> pyopencl.Program:
        """Returns a program that is ready to use.

        device: a pyopencl.Device or a sequence of them; None means all devices of `context`.
        variant: None means the one that was measured as the fastest, or else "default".
        options: build options that are known only at run time; they follow those of the variant.
        constants: the specialization constants of SPIR-V by their SpecId, as objects that have
        the size of their type, such as numpy.float32(1); a bool is one byte.
        answers: whether the load launches kernels of the bundle, and compares what they compute
        with what is known.
        problem_size: one to three numbers, if they are known: the fastest variant is the one for
        problems of about this size.
        report: filled, also if the load fails.

        Blocks without the GIL while the driver works. Raises SelectionError, OpenCLError,
        BuildError, BundleError, ArgumentError. The exception has the report, too.
        """
        context_handle = context_pointer(context)
        devices = device_pointers(context, device)
        name = argument(program, "program")
        filled = _report_or_new(report)
        result, raw_report = c_void_p(), c_void_p()
        load_options = LoadOptions(
            variant=variant,
            options=options,
            constants=constants,
            fallback=fallback,
            answers=answers,
            problem_size=problem_size,
        )
        with self._handle as bundle:
            call(
                library.clbin_load,
                bundle,
                context_handle,
                (c_void_p * len(devices))(*devices),
                len(devices),
                name,
                load_options.pointer,
                byref(result),
                byref(raw_report),
                report=lambda: filled._fill(raw_report),
            )
        filled._fill(raw_report)
        return new_program(result)

    def warm(
        self,
        context: pyopencl.Context,
        device: pyopencl.Device,
        program: str | None = None,
        *,
        variant: str | None = None,
        limit: float = 0,
    ) -> Warmed:
        """Stores what the next start would have to build in the user cache, for one device:
        clbin_warm. clbin.warm() does it for all devices, in processes of the lowest priority.

        program, variant: None means every one.
        limit: after this time in seconds, no further variant begins. 0: no limit.

        Blocks without the GIL while the driver works. Raises what load() raises for the first
        variant that fails, after the others were loaded; FileError if what was built cannot be
        stored, and ArgumentError if the user cache is off.
        """
        from ._contents import Warmed

        handles = context_pointer(context), device_pointer(device)
        name = None if program is None else argument(program, "program")
        if not 0 <= limit <= 4e6:
            raise ArgumentError(Status.INVALID_ARGUMENT, f"'limit' is {limit} seconds")
        milliseconds = max(1, int(limit * 1000)) if limit else 0
        load_options = LoadOptions(variant=variant)
        warmed = WarmedStruct(struct_size=sizeof(WarmedStruct))
        options = load_options.pointer, milliseconds
        with self._handle as bundle:
            call(library.clbin_warm, bundle, *handles, name, *options, byref(warmed))
        return Warmed(
            from_entries=warmed.from_entries,
            from_user_cache=warmed.from_user_cache,
            built=warmed.built,
            unsuitable=warmed.unsuitable,
            remaining=warmed.remaining,
        )


def _open(key: KeyOption | None, function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function whose last parameters but the error are the options and the result."""
    *first, options, pointer = arguments
    callback = None
    if key is not None:
        from ._key import KeyCallback

        callback = KeyCallback(key)
        options.key = callback.function
    try:
        call(function, *first, byref(options), byref(pointer))
    except Error:
        if callback is not None and callback.error is not None:
            raise callback.error from None
        raise


KEY_BYTES = 32


def key_bytes(public_keys: Sequence[str | bytes]) -> ctypes.Array[ctypes.c_char]:
    """Returns Ed25519 public keys of 32 bytes each, one after the other."""
    if isinstance(public_keys, (str, bytes)) or not hasattr(public_keys, "__iter__"):
        raise TypeError(f"'public_keys' must be a sequence, not {type(public_keys).__name__}")
    keys = []
    for key in public_keys:
        if isinstance(key, bytes) and len(key) == KEY_BYTES:
            keys.append(key)
        else:
            text = key.decode("latin-1") if isinstance(key, bytes) else key
            raw = create_string_buffer(KEY_BYTES)
            call(library.clbin_public_key_from_text, argument(text, "public_keys"), raw)
            keys.append(raw.raw)
    content = b"".join(keys)
    return create_string_buffer(content, max(len(content), 1))


def policy_of(is_required: bool) -> SignaturePolicy:
    return SignaturePolicy.REQUIRED if is_required else SignaturePolicy.IGNORED


def switch_of(value: bool | None) -> Switch:
    if value is None:
        return Switch.DEFAULT
    return Switch.ON if value else Switch.OFF


def identity(device: pyopencl.Device) -> Identity:
    """Asks a device for its identity. For a sub-device, returns that of its parent.

    Raises OpenCLError.
    """
    from ._contents import Identity

    handle = device_pointer(device)
    raw = ctypes.POINTER(IdentityStruct)()
    load_options = LoadOptions()
    call(library.clbin_identity_query, handle, load_options.pointer, byref(raw))
    try:
        found = raw.contents
        return Identity(
            platform_name=name_of(found.platform_name),
            platform_version=name_of(found.platform_version),
            vendor=name_of(found.vendor),
            device_name=name_of(found.device_name),
            driver_version=name_of(found.driver_version),
            device_version=name_of(found.device_version),
            opencl_c_versions=tuple(name_of(found.opencl_c_versions).splitlines()),
            il_versions=tuple(name_of(found.il_versions).splitlines()),
            architecture=name_of(found.architecture),
            vendor_id=found.vendor_id,
            address_bits=found.address_bits,
        )
    finally:
        library.clbin_identity_free(raw)


def _report_or_new(report: Report | None) -> Report:
    if report is None:
        return Report()
    if not isinstance(report, Report):
        raise TypeError(f"'report' must be a clbin.Report, not {type(report).__name__}")
    return report


def _limit(value: int, name: str) -> int:
    if not isinstance(value, int):
        raise TypeError(f"'{name}' must be int, not {type(value).__name__}")
    if not 0 <= value < 2**64:
        raise ArgumentError(Status.INVALID_ARGUMENT, f"'{name}' is {value}")
    return value


def _copy(source: object) -> ctypes.Array[ctypes.c_char]:
    """Copies bytes, so that nobody can change them after libclbin has checked them."""
    try:
        view = memoryview(source)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"'source' must be a path or bytes, not {type(source).__name__}") from None
    content = view.tobytes()
    return (ctypes.c_char * len(content)).from_buffer_copy(content)


def _identity_struct(identity: Identity) -> IdentityStruct:
    def text(name: str) -> bytes:
        return argument(getattr(identity, name), name)

    def lines(name: str) -> bytes:
        return b"\n".join(argument(line, name) for line in getattr(identity, name))

    def number(name: str) -> int:
        value = getattr(identity, name)
        if not isinstance(value, int) or not 0 <= value < 2**32:
            raise ArgumentError(Status.INVALID_ARGUMENT, f"'{name}' is {value!r}")
        return c_uint32(value).value

    return IdentityStruct(
        sizeof(IdentityStruct),
        text("platform_name"),
        text("platform_version"),
        text("vendor"),
        text("device_name"),
        text("driver_version"),
        text("device_version"),
        lines("opencl_c_versions"),
        lines("il_versions"),
        text("architecture"),
        number("vendor_id"),
        number("address_bits"),
    )


def _read_selection(selection: c_void_p) -> Selection:
    from ._contents import Selection

    raw = filled(SelectionStruct, library.clbin_selection_get, selection)
    return Selection(
        data=ctypes.string_at(raw.data, raw.size_bytes) if raw.data else b"",
        options=text_of(raw.options),
        format=text_of(raw.format),
        rule=Rule(raw.rule_number),
        kernels=tuple(name_of(raw.kernels[index]) for index in range(raw.kernel_count)),
    )
