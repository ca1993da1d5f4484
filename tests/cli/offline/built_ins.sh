#!/bin/bash
# Functions of OpenCL C 1.2 for NVIDIA's devices: none is unresolved. (Every 40th of 9,670 kernels;
# all were compiled for bench/results/nvptx_built_ins.md.)
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_50
python3 "$CLI_TESTS/offline/nvptx_built_ins.py" --sample 40 \
  oclcc '{source}' --target nvptx:sm_50 --no-cache -w -o '{output}' > log || cat log
