#!/bin/bash
# --record: what the layer wrote about the process says why nothing may have been recorded.
# shellcheck source=tests/cli/record/layer.bash
source "$CLI_TESTS/record/layer.bash"
echo "== the layer was loaded"
oclcc --record app.clbin -- sh -c 'echo /lib/libOpenCL.so.1 > "$CLBIN_LAYER_RECORD/loaders-1.log"'
echo "== a second loader"
oclcc --record app.clbin -- sh -c \
  'printf "/lib/libOpenCL.so.1\n/py/libOpenCL-1.so\n" > "$CLBIN_LAYER_RECORD/loaders-1.log"'
echo "== garbage"
oclcc --record app.clbin -- sh -c ': > "$CLBIN_LAYER_RECORD/loaders-1.log"'
oclcc --record app.clbin -- sh -c 'printf "a\n\033[1m\nb" > "$CLBIN_LAYER_RECORD/loaders-1.log"'
ls app.clbin 2> /dev/null
