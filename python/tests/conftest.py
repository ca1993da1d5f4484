"""Fixtures of the tests of the Python package.

Each test has empty caches of its own. Tests that need a platform run once for each platform that
PyOpenCL finds. CLBIN_TEST_HIDDEN names what run.sh has hidden: pyopencl, platforms, or the loader
of the system. In CI, anything else that is missing is an error. CLBIN_TEST_PLATFORM is the name of
a platform to test instead of those in PLATFORMS, such as "NVIDIA CUDA".
"""

import ctypes
import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
from typing import ClassVar

# Before a driver is loaded: PoCL reads these variables once for each process.
_caches = tempfile.mkdtemp(prefix="clbin-test-")
os.environ["POCL_CACHE_DIR"] = os.path.join(_caches, "pocl")
os.environ["XDG_CACHE_HOME"] = os.path.join(_caches, "cache")
os.environ["MESA_SHADER_CACHE_DIR"] = os.path.join(_caches, "mesa")
os.makedirs(os.environ["POCL_CACHE_DIR"])

import pytest  # noqa: E402

import clbin  # noqa: E402

PLATFORMS = {"pocl": "Portable Computing Language", "oclgrind": "Oclgrind", "rusticl": "rusticl"}
if OTHER_PLATFORM := os.environ.get("CLBIN_TEST_PLATFORM"):
    PLATFORMS = {"other": OTHER_PLATFORM}
HIDDEN = os.environ.get("CLBIN_TEST_HIDDEN", "")
if HIDDEN == "pyopencl":
    sys.modules["pyopencl"] = None  # the import fails

SCALE = "kernel void scale(global float* v, float f) { v[get_global_id(0)] *= f; }\n"


def _miss(what):
    if os.environ.get("CI") == "true" and HIDDEN not in ("pyopencl", "platforms"):
        pytest.fail(f"{what} is missing")
    pytest.skip(f"{what} is missing")


def only_driver_of(device):
    """The environment variable that hides other platforms from a process, whose drivers take longer
    to start than most programs to run. Empty if the file of the platform is not known.
    """
    folder = pathlib.Path(os.environ.get("OCL_ICD_VENDORS", ""))
    names = [name for name, full in PLATFORMS.items() if full == device.platform.name]
    file = folder / f"{names[0]}.icd"
    return {"OCL_ICD_VENDORS": str(file)} if file.exists() else {}


@pytest.fixture
def cl():
    """PyOpenCL."""
    try:
        import pyopencl
    except ImportError:
        _miss("pyopencl")
    return pyopencl


@pytest.fixture(params=PLATFORMS)
def device(request, cl):
    """The device of one platform after the other."""
    try:
        platforms = cl.get_platforms()
    except cl.Error:
        platforms = []
    if request.param not in PLATFORMS:
        pytest.skip(f"only {OTHER_PLATFORM} is tested")
    for platform in platforms:
        if platform.name == PLATFORMS[request.param] and platform.get_devices():
            return platform.get_devices()[0]
    return _miss(request.param)


@pytest.fixture
def context(cl, device):
    return cl.Context([device])


class LiveObjects:
    """Counts the objects of libclbin that exist: where each function stores a new one."""

    # Each function, with the indices of its parameters and the functions that free the objects.
    CREATED: ClassVar = {
        "clbin_open": [(2, "clbin_close")],
        "clbin_open_set": [(2, "clbin_close")],
        "clbin_open_memory": [(3, "clbin_close")],
        "clbin_list": [(1, "clbin_listing_free")],
        "clbin_select": [(4, "clbin_selection_free")],
        "clbin_identity_query": [(2, "clbin_identity_free")],
        "clbin_load": [(7, "clbin_report_free")],
        "clbin_builder_create": [(1, "clbin_builder_free")],
        "clbin_build": [(7, "clbin_report_free")],
    }

    def __init__(self, library):
        self.live = []
        for name, places in self.CREATED.items():
            setattr(library, name, self.creating(getattr(library, name), places))
        for name in {free for places in self.CREATED.values() for _, free in places}:
            setattr(library, name, self.freeing(getattr(library, name), name))

    @staticmethod
    def address(pointer):
        return ctypes.cast(pointer, ctypes.c_void_p).value

    def creating(self, function, places):
        def call(*arguments):
            status = function(*arguments)
            # The last parameter is the error.
            for index, free in [*places, (-1, "clbin_error_free")]:
                address = self.address(arguments[index]._obj)
                if address:
                    self.live.append((free, address))
            return status

        return call

    def freeing(self, function, name):
        def call(pointer):
            address = self.address(pointer)
            if address:
                self.live.remove((name, address))  # fails if it is freed twice
            return function(pointer)

        return call


@pytest.fixture(scope="session")
def live_objects():
    from clbin._library import library

    objects = LiveObjects(library)
    library.clbin_error_free = objects.freeing(library.clbin_error_free, "clbin_error_free")
    library.clbin_verify = objects.creating(library.clbin_verify, [])
    library.clbin_recommended_size = objects.creating(library.clbin_recommended_size, [])
    library.clbin_warm = objects.creating(library.clbin_warm, [])
    library.clbin_counter = objects.creating(library.clbin_counter, [])
    library.clbin_list_json = objects.creating(library.clbin_list_json, [])
    library.clbin_public_key_from_text = objects.creating(library.clbin_public_key_from_text, [])
    library.clbin_key_from_text = objects.creating(library.clbin_key_from_text, [])
    library.clbin_builder_add_bundle = objects.creating(library.clbin_builder_add_bundle, [])
    return objects


@pytest.fixture(autouse=True)
def no_leaks(live_objects):
    """Fails a test that leaves an object of libclbin, or frees one twice."""
    if hasattr(gc, "freeze"):  # not in PyPy
        gc.freeze()  # the modules, which a collection would visit
    yield
    until_exit = clbin.build.__self__._until_exit  # exists if a test has built on PoCL
    if until_exit is not None:
        until_exit.close()
    if live_objects.live:
        gc.collect()
        gc.collect()  # PyPy
    live_objects.live, left = [], live_objects.live
    assert left == []


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    """An empty user cache for each test."""
    monkeypatch.setenv("CLBIN_CACHE_DIR", str(tmp_path / "clbin-cache"))
    return tmp_path / "clbin-cache"


@pytest.fixture(scope="session")
def workplace():
    return pathlib.Path(tempfile.mkdtemp(prefix="clbin-test-", dir=_caches))


@pytest.fixture(scope="session")
def offline_bundle(workplace):
    """The bytes of a bundle for which no driver was started."""
    source = workplace / "scale.cl"
    source.write_text(SCALE)
    return clbin.compile(source, options="--source-only").data


@pytest.fixture
def scale_bundle(device, workplace):
    """The path of a bundle with two variants, for every installed device."""
    path = workplace / "scale.clbin"
    if not path.exists():
        source = workplace / "scale.cl"
        source.write_text(SCALE)
        clbin.compile(
            source, output=path, variants={"default": "", "fast": "-cl-fast-relaxed-math"}
        )
    return path


def run_scale(cl, context, program, factor=2.0):
    """Launches the kernel once."""
    import numpy

    values = numpy.arange(4, dtype=numpy.float32)
    queue = cl.CommandQueue(context)
    buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
    cl.Kernel(program, "scale")(queue, (4,), None, buffer, numpy.float32(factor))
    cl.enqueue_copy(queue, values, buffer)
    return values.tolist()


def run(code, *arguments, **variables):
    """Runs Python code as a process, which must not crash, and returns its output."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "ignore", "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables},
    )
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    return done.stdout
