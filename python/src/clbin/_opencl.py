"""PyOpenCL's objects, and the OpenCL functions of the loader that PyOpenCL uses.

PyOpenCL's wheels contain an ICD loader, and the system need not have one. PyOpenCL's extension
module is linked with its loader. dlsym() with the handle of the extension module therefore finds
the functions of that loader, whatever its file is called.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import c_void_p
from importlib import import_module

from ._library import ResolveFunction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Union

    import pyopencl

    Devices = Union["pyopencl.Device", Sequence["pyopencl.Device"], None]


def import_pyopencl() -> ModuleType:
    """Imports PyOpenCL, which is required to load and build programs only."""
    try:
        return import_module("pyopencl")
    except ImportError as error:
        message = "loading and building programs requires PyOpenCL: pip install clbin[pyopencl]"
        raise ImportError(f"{message} ({error})", name="pyopencl") from error


class _Functions:
    """The addresses of OpenCL functions, by name."""

    def __init__(self, extension_module: ModuleType) -> None:
        path = extension_module.__file__
        if path is None:
            raise ImportError("PyOpenCL's extension module has no file", name="pyopencl._cl")
        # RTLD_NOLOAD: the module is loaded; a second one would have other functions.
        self._library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
        self._addresses: dict[bytes, int | None] = {}
        self.callback = ResolveFunction(self._resolve)

    def _resolve(self, name: bytes, _user_data: object) -> int | None:
        address = self._addresses.get(name)
        if address is None and name not in self._addresses:
            function = getattr(self._library, name.decode("ascii"), None)
            address = ctypes.cast(function, c_void_p).value if function is not None else None
            self._addresses[name] = address
        return address


_functions: list[_Functions] = []


def resolver() -> object:
    """Returns the clbin_resolve_function of PyOpenCL's loader. It exists until the process ends."""
    if not _functions:
        _functions.append(_Functions(import_pyopencl()._cl))
    return _functions[0].callback


def context_pointer(context: object) -> int:
    """Returns the cl_context of a pyopencl.Context."""
    kind = import_pyopencl().Context
    if not isinstance(context, kind):
        raise TypeError(f"'context' must be a pyopencl.Context, not {type(context).__name__}")
    return int(context.int_ptr)


def devices_of(context: pyopencl.Context, devices: Devices) -> list[pyopencl.Device]:
    """Returns one or several devices as a list. None means all of the context."""
    kind = import_pyopencl().Device
    if devices is None:
        devices = context.devices
    if isinstance(devices, kind):
        devices = [devices]
    if isinstance(devices, (str, bytes)) or not hasattr(devices, "__iter__"):
        raise TypeError(
            f"'device' must be one or several pyopencl.Device, not {type(devices).__name__}"
        )
    found = list(devices)
    for device in found:
        if not isinstance(device, kind):
            raise TypeError(f"'device' must contain pyopencl.Device, not {type(device).__name__}")
    return found


def device_pointers(context: pyopencl.Context, devices: Devices) -> list[int]:
    """Returns the cl_device_ids of one or several devices. None means all of the context."""
    return [int(device.int_ptr) for device in devices_of(context, devices)]


def device_pointer(device: object) -> int:
    """Returns the cl_device_id of a pyopencl.Device."""
    if not isinstance(device, import_pyopencl().Device):
        raise TypeError(f"'device' must be a pyopencl.Device, not {type(device).__name__}")
    return int(device.int_ptr)


def new_program(pointer: c_void_p) -> pyopencl.Program:
    """Returns a pyopencl.Program that owns the reference of a cl_program."""
    return import_pyopencl().Program.from_int_ptr(pointer.value, retain=False)


def joined(options: object) -> str:
    """Joins build options by blanks, as PyOpenCL does."""
    words: list[str] = []
    for word in options if isinstance(options, (list, tuple)) else [options]:
        if not isinstance(word, str):
            raise TypeError(f"'options' must be str or a list of str, not {type(word).__name__}")
        words.append(word)
    return " ".join(words)


def build_options(context: pyopencl.Context, options: object) -> str:
    """Returns the build options that pyopencl.Program.build passes to OpenCL.

    These are the options of the caller, the directory of PyOpenCL's own headers, and the
    environment variable PYOPENCL_BUILD_OPTIONS.
    """
    words = [] if options is None else [joined(options)]
    words += ["-I", _headers_of_pyopencl()]
    if any("Oclgrind" in device.platform.name for device in context.devices[:1]):
        words += ["-D", "PYOPENCL_USING_OCLGRIND"]
    forced = os.environ.get("PYOPENCL_BUILD_OPTIONS")
    if forced:
        words.append(forced)
    return " ".join(words)


def _headers_of_pyopencl() -> str:
    directory = os.path.join(os.path.dirname(os.path.abspath(_file_of_pyopencl())), "cl")
    return f'"{directory}"' if " " in directory else directory


def _file_of_pyopencl() -> str:
    path = import_pyopencl().__file__
    if path is None:
        raise ImportError("PyOpenCL has no file", name="pyopencl")
    return path
