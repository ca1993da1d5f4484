"""Tags the wheel: it contains ELF files for one machine, and runs with every Python 3.

CLBIN_MACHINE=any: the wheel contains none. A distribution adds links to the files of its packages.
"""

import os
import platform

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The newest glibc and libstdc++ whose symbols the ELF files use. script/wheel checks it.
POLICY = "manylinux_2_35"


class WheelTag(BuildHookInterface):
    def initialize(self, version, build_data):
        machine = os.environ.get("CLBIN_MACHINE") or platform.machine()
        if machine == "any":
            return
        native = os.path.join(self.root, "src", "clbin", "_native")
        if not os.path.exists(os.path.join(native, "libclbin.so.1")):
            raise RuntimeError("src/clbin/_native is missing: build the wheel with script/wheel")
        machine = os.environ.get("CLBIN_MACHINE") or platform.machine()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{POLICY}_{machine}"
