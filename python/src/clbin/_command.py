"""The console command oclcc."""

from __future__ import annotations

import os
import sys

from ._library import NATIVE_DIRECTORY


def command_path() -> str:
    """Returns the path of the oclcc that the package contains."""
    return os.path.join(NATIVE_DIRECTORY, "oclcc")


def layer_path() -> str:
    """Returns the path of libclbin_layer.so, for the environment variable OPENCL_LAYERS.

    The layer caches the builds of applications that are not changed: libclbin_layer(7).
    """
    return os.path.join(NATIVE_DIRECTORY, "libclbin_layer.so")


def main() -> None:
    """Replaces this process by oclcc."""
    os.execv(command_path(), ["oclcc", *sys.argv[1:]])
