"""The loader whose functions are used, and what is missing."""

import ctypes
import os

import pytest
from conftest import HIDDEN, SCALE

import clbin
from clbin import _opencl


class DlInfo(ctypes.Structure):
    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def file_of(address):
    """Returns the path of the library that contains an address."""
    info = DlInfo()
    dladdr = ctypes.CDLL(None).dladdr
    assert dladdr(ctypes.c_void_p(address), ctypes.byref(info)) != 0
    return os.fsdecode(info.file)


def test_functions_come_from_the_loader_of_pyopencl(cl):
    resolve = _opencl.resolver()
    path = file_of(resolve(b"clBuildProgram", None))
    assert resolve(b"clBuildProgram", None) == resolve(b"clBuildProgram", None)
    assert resolve(b"clNoSuchFunction", None) is None
    assert "libOpenCL" in path
    if HIDDEN == "loader":
        assert "/site-packages/pyopencl" in path
        with pytest.raises(OSError, match=r"libOpenCL\.so\.1"):
            ctypes.CDLL("libOpenCL.so.1")


def test_only_one_loader_is_loaded(cl, device, context):
    clbin.build(context, SCALE)
    with open("/proc/self/maps") as maps:
        loaders = {line.split()[-1] for line in maps if "/libOpenCL" in line}
    assert len(loaders) == 1


def test_loading_without_pyopencl_raises(offline_bundle):
    if HIDDEN != "pyopencl":
        pytest.skip("PyOpenCL exists")
    for use in (
        lambda: clbin.Bundle(offline_bundle).load(None, None, "scale"),
        lambda: clbin.build(None, SCALE),
        lambda: clbin.identity(None),
    ):
        with pytest.raises(ImportError, match=r"pip install clbin\[pyopencl\]") as caught:
            use()
        assert caught.value.name == "pyopencl"


def test_compiling_without_a_platform_raises(cl, tmp_path):
    if HIDDEN != "platforms":
        pytest.skip("platforms exist")
    source = tmp_path / "scale.cl"
    source.write_text(SCALE)
    with pytest.raises(clbin.CompileError, match="no OpenCL device") as caught:
        clbin.compile(source)
    assert caught.value.code == clbin.ExitStatus.NO_COMPILER
    with pytest.raises(cl.Error):
        cl.get_platforms()
