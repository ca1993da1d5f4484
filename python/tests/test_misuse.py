"""Random calls with wrong objects raise, and never crash the process."""

import os
import pathlib
import subprocess
import sys

import pytest

MISUSE = pathlib.Path(__file__).with_name("misuse.py")


@pytest.mark.parametrize("seed", range(4))
def test_random_misuse_raises_and_never_crashes(seed, offline_bundle, tmp_path):
    bundle = tmp_path / "k.clbin"
    bundle.write_bytes(offline_bundle)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(MISUSE), str(seed), str(bundle)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, f"seed {seed}: {done.returncode}\n{done.stderr[-4000:]}"
    assert "400 calls" in done.stdout
