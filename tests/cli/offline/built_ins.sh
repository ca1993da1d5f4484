#!/bin/bash
# Every function of OpenCL C 1.2 is resolved for NVIDIA's devices. Compiles every 40th of 9,670
# kernels. bench/results/nvptx_built_ins.md has the results for all.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_50
python3 "$CLI_TESTS/offline/nvptx_built_ins.py" --sample 40 \
  oclcc '{source}' --target nvptx:sm_50 --no-cache -w -o '{output}' > log || cat log
