"""The contents of a bundle, as data classes."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import byref, c_void_p
from dataclasses import dataclass, field
from types import MappingProxyType

from ._enums import Rule
from ._errors import call, filled, name_of, text_of
from ._library import ArgumentStruct, EntryStruct, GroupStruct, KernelStruct, library


@dataclass(frozen=True)
class Argument:
    """An argument of a kernel.

    type: such as "float*".
    """

    name: str
    type: str


@dataclass(frozen=True)
class Kernel:
    """A kernel of an entry.

    arguments: None if they are unknown.
    required_work_group_size: in work-items, for dimensions 0, 1 and 2; None if the kernel does
    not require one.
    """

    name: str
    arguments: tuple[Argument, ...] | None
    required_work_group_size: tuple[int, int, int] | None


@dataclass(frozen=True)
class Entry:
    """One device binary.

    platform, device, driver_version: of the device that it was built for; "" for an offline
    target.
    target: the specification of an offline target, such as "nvptx:sm_70"; otherwise "".
    format: such as "PTX 7.5 for sm_50".
    digest: of the binary, as 64 hexadecimal digits.
    raw_bytes, stored_bytes: the size of the binary, and its size in the bundle.
    extensions: those that -cl-ext requested for it.
    """

    program: str
    variant: str
    platform: str
    device: str
    driver_version: str
    target: str
    format: str
    options: str
    digest: str
    raw_bytes: int
    stored_bytes: int
    kernels: tuple[Kernel, ...]
    extensions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Variant:
    """A program with one set of build options.

    required: the extensions that it requires of a device.
    """

    program: str
    name: str
    options: str
    has_source: bool
    entries: tuple[Entry, ...]
    required: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProgramContents:
    """A program of a bundle, with its variants by name."""

    name: str
    variants: Mapping[str, Variant]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries of all variants."""
        return tuple(entry for variant in self.variants.values() for entry in variant.entries)


@dataclass(frozen=True)
class Identity:
    """What a device reports about itself. clbin.identity() asks a device for it.

    architecture: such as "sm_90" or "gfx90a"; "" if it is unknown.
    vendor_id: 0 on PoCL, where it depends on the order of devices.
    address_bits: 32 or 64.
    """

    platform_name: str = ""
    platform_version: str = ""
    vendor: str = ""
    device_name: str = ""
    driver_version: str = ""
    device_version: str = ""
    opencl_c_versions: tuple[str, ...] = ()
    il_versions: tuple[str, ...] = ()
    architecture: str = ""
    vendor_id: int = 0
    address_bits: int = 0


@dataclass(frozen=True)
class Warmed:
    """What Bundle.warm did, in numbers of variants.

    built: from IL or source.
    unsuitable: those that did not load because the device lacks an extension.
    remaining: not begun within the limit.
    """

    from_entries: int
    from_user_cache: int
    built: int
    unsuitable: int
    remaining: int


@dataclass(frozen=True)
class Selection:
    """The best entry of a bundle for a device. libclbin has checked and decompressed its bytes.

    options: the build options of the entry.
    format: such as "PTX 7.5 for sm_50".
    """

    data: bytes = field(repr=False)
    options: str
    format: str
    rule: Rule
    kernels: tuple[str, ...]


class _Listing:
    """Reads a clbin_listing."""

    def __init__(self, listing: c_void_p) -> None:
        self._listing = listing

    def programs(self) -> Mapping[str, ProgramContents]:
        groups = range(library.clbin_listing_group_count(self._listing))
        variants: dict[str, dict[str, Variant]] = {}
        for variant in map(self._variant, groups):
            variants.setdefault(variant.program, {})[variant.name] = variant
        return MappingProxyType(
            {
                name: ProgramContents(name, MappingProxyType(by_name))
                for name, by_name in variants.items()
            }
        )

    def _variant(self, group: int) -> Variant:
        raw = filled(GroupStruct, library.clbin_listing_group, self._listing, group)
        program, name = name_of(raw.program), name_of(raw.variant)
        return Variant(
            program,
            name,
            text_of(raw.options),
            raw.has_source != 0,
            tuple(self._entry(program, name, group, index) for index in range(raw.entry_count)),
            tuple(text_of(raw.required).split()),
        )

    def _entry(self, program: str, variant: str, group: int, index: int) -> Entry:
        place = (self._listing, group, index)
        raw = filled(EntryStruct, library.clbin_listing_entry, *place)
        return Entry(
            program=program,
            variant=variant,
            platform=text_of(raw.platform),
            device=text_of(raw.device),
            driver_version=text_of(raw.driver_version),
            target=text_of(raw.target_spec),
            format=text_of(raw.format),
            options=text_of(raw.options),
            digest=text_of(raw.raw_digest),
            raw_bytes=raw.raw_bytes,
            stored_bytes=raw.stored_bytes,
            kernels=tuple(self._kernel(*place, kernel) for kernel in range(raw.kernel_count)),
            extensions=tuple(text_of(raw.extensions).split()),
        )

    def _kernel(self, *place: c_void_p | int) -> Kernel:
        raw = filled(KernelStruct, library.clbin_listing_kernel, *place)
        arguments = tuple(self._argument(*place, number) for number in range(raw.argument_count))
        x, y, z = raw.required_work_group_size
        return Kernel(
            name_of(raw.name),
            arguments if raw.argument_count >= 0 else None,
            (x, y, z) if x or y or z else None,
        )

    def _argument(self, *place: c_void_p | int) -> Argument:
        raw = filled(ArgumentStruct, library.clbin_listing_argument, *place)
        return Argument(text_of(raw.name), text_of(raw.type))


def read_programs(bundle: c_void_p) -> Mapping[str, ProgramContents]:
    """Lists an open bundle."""
    listing = c_void_p()
    call(library.clbin_list, bundle, byref(listing))
    try:
        return _Listing(listing).programs()
    finally:
        library.clbin_listing_free(listing)
