"""PyOpenCL's own examples run on Oclgrind, whose builds take the least, or on PoCL, or on
CLBIN_TEST_PLATFORM, with clbin.build in the place of pyopencl.Program.build.

The examples are those of PyOpenCL 2022.3.1 in Debian's package python-pyopencl-doc, which contains
some of PyOpenCL's tests, too. They are not changed: run_example.py replaces the method.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import HIDDEN, PLATFORMS, _miss, only_driver_of

EXAMPLES = pathlib.Path("/usr/share/doc/python-pyopencl-doc/examples")

# The arguments, and what the end of the output contains if the result is right. Examples without
# such an end assert their results.
RUN = {
    "black-hole-accretion.py": ("-s 64 -d DEVICE", r"\nFlux max @.*: 0\.001\d+\n"),
    "demo-struct-reduce.py": ("", ""),
    "demo.py": ("", r"^0\.0\n"),
    "demo_array.py": ("", r"^0\.0\n"),
    "demo_array_svm.py": ("", ""),
    "demo_elementwise.py": ("", r"^0\.0\n"),
    "demo_elementwise_complex.py": ("", r"^\d\.\d+e-0[5-9]\n"),
    "demo_meta_template.py": ("", ""),
    "median-filter.py": ("", r"^\(510, 512\)\n"),
    "n-body.py": ("-n 64 -i 2 -d DEVICE", r"\n\tMin:\t"),
    "narray.py": ("", r"^\[1 1 1 1 1\]\n"),
    "pi-monte-carlo.py": ("-i 100000 -d DEVICE", r"\nPi estimation 3\.14"),
    "svm.py": ("", r"coarse-grained buffer SVM\.\.\. done\.\n"),
    "test_arrays_in_structs.py": ("", "=== 1 passed"),
    "test_wrapper.py": ("", r"=== 4\d passed"),
}

# Oclgrind has no SVM, hangs in test_wrapper.py, and takes long for the picture of median-filter.py.
ON_POCL = ("demo_array_svm.py", "svm.py", "median-filter.py", "test_wrapper.py")

LEFT_OUT = {
    "demo_mandelbrot.py": "opens a window of Tk",
    "demo_meta_codepy.py": "requires cgen, which Debian does not have",
    "dump-performance.py": "measures copies and launches for half a minute",
    "dump-properties.py": "builds no program",
    "gl_interop_demo.py": "requires OpenGL and a display",
    "gl_particle_animation.py": "requires OpenGL and a display",
    "test_algorithm.py": "tests pyopencl.scan and others for minutes",
    "test_array.py": "tests pyopencl.array for minutes",
    "test_clmath.py": "tests pyopencl.clmath for minutes",
    "test_clrandom.py": "tests pyopencl.clrandom for half a minute",
    "test_enqueue_copy.py": "builds no program",
    "transpose.py": "requires matplotlib, and measures for minutes",
}


def platform_of(name):
    if "other" in PLATFORMS:
        return "other"
    return "pocl" if name in ON_POCL else "oclgrind"


def device_number(cl, device):
    """The number of a device among those of all platforms, which some examples want."""
    return [each for platform in cl.get_platforms() for each in platform.get_devices()].index(
        device
    )


@pytest.fixture
def examples(cl):
    """The directory of the examples of the PyOpenCL that the tests use."""
    if HIDDEN or not cl.__file__.startswith("/usr/lib/python3/dist-packages/"):
        pytest.skip("the examples are those of Debian's PyOpenCL")
    if not EXAMPLES.is_dir():
        _miss(str(EXAMPLES))
    return EXAMPLES


@pytest.mark.parametrize(
    ("device", "name"), [(platform_of(name), name) for name in RUN], indirect=["device"]
)
def test_the_example_passes_with_clbin_build(name, cl, device, examples, tmp_path):
    arguments, end_of_output = RUN[name]
    shutil.copy(examples / "noisyImage.jpg", tmp_path)
    chosen = device.platform.name.split()[0].lower()
    alone = only_driver_of(device)
    number = 0 if alone else device_number(cl, device)
    runner = pathlib.Path(__file__).with_name("run_example.py")
    done = subprocess.run(
        [
            sys.executable,
            runner,
            examples / name,
            *arguments.replace("DEVICE", str(number)).split(),
        ],
        cwd=tmp_path,
        env=os.environ | alone | {"PYOPENCL_CTX": chosen, "PYOPENCL_TEST": chosen},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    output, count = done.stdout.rsplit("clbin.build: ", 1)
    assert int(count) > 0, output
    assert re.search(end_of_output, output[-400:], re.MULTILINE), output


def test_every_example_is_run_or_left_out_with_a_reason(examples):
    names = {path.name for path in examples.glob("*.py")}
    assert names == RUN.keys() | LEFT_OUT.keys()
    assert RUN.keys().isdisjoint(LEFT_OUT)
