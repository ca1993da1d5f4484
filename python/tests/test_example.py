"""The program in examples/python."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import only_driver_of


def test_the_example_runs(cl, device, tmp_path):
    folder = os.environ.get("CLBIN_SOURCE", "")
    if not folder:
        pytest.skip("CLBIN_SOURCE does not name the sources")
    alone = only_driver_of(device)
    names = [platform.name for platform in cl.get_platforms()]
    index = 0 if alone else names.index(device.platform.name)
    done = subprocess.run(
        [sys.executable, str(pathlib.Path(folder) / "examples/python/saxpy.py")],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            **alone,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "PYOPENCL_CTX": str(index),
        },
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "12.0 24.0 36.0 48.0\n" * 2
    assert "exact identity" in done.stderr
    assert "built from source" in done.stderr
