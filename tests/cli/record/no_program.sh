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
# expected exit status: 2
# expected output:
#| == the layer was loaded
#| == a second loader
#| == garbage
# expected errors:
#| oclcc: warning: the application built no program: 'app.clbin' is not written
#| oclcc: note: it has called OpenCL, but may load binaries from a cache of its own: empty it, or switch it off
#| oclcc: warning: the application built no program: 'app.clbin' is not written
#| oclcc: note: it has a second OpenCL ICD loader, '/py/libOpenCL-1.so', and the layer does not see what is built through it
#| oclcc: warning: the application built no program: 'app.clbin' is not written
#| oclcc: note: it has called OpenCL, but may load binaries from a cache of its own: empty it, or switch it off
#| oclcc: warning: the application built no program: 'app.clbin' is not written
#| oclcc: note: it has a second OpenCL ICD loader, '?[1m', and the layer does not see what is built through it
