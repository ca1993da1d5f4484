#!/bin/bash
# --record: what is wrong is found before the application runs, and its status is that of a shell.
# shellcheck source=tests/cli/record/layer.bash
source "$CLI_TESTS/record/layer.bash"
try() {
  oclcc "$@"
  echo "exit $?"
}
make_bundle sample sample.clbin
head -c 300 sample.clbin > cut.clbin
try --record cut.clbin -- echo not run
try --record . -- echo not run
try --record none/app.clbin -- echo not run
try --record - -- echo not run
try --record app.clbin
try --record app.clbin --
try --record app.clbin -- ''
try --record app.clbin ./app one
try --record
try --record app.clbin --merge -- ./app one
try --record app.clbin -DX -- ./app one
try --record-binaries k.cl
try --record app.clbin -- ./no_such_command
try --record app.clbin -- ./one.cl
try --record app.clbin -- true
try --record app.clbin -- false
CLBIN_LAYER_LIBRARY=none.so try --record app.clbin -- echo not run
try --record=sample.clbin -- ./app one
oclcc --info sample.clbin | grep -E '^program|^  (source|built|launched)'
cp sample.clbin before.clbin
echo "== another source than the bundle has"
make_bundle recording two.cl one default -DN=2 scale cpu-a '' conflict.clbin
cp conflict.clbin before.clbin
try --record conflict.clbin -- ./app one
cmp conflict.clbin before.clbin
ls
# expected output:
#| exit 4
#| exit 3
#| exit 3
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 127
#| exit 126
#| exit 0
#| exit 1
#| exit 3
#| exit 0
#| program 'matmul', variant 'default'
#|   source    kept: 2 files, 78 bytes
#| program 'matmul', variant 'fast'
#|   source    kept: 2 files, 78 bytes
#| program 'one', variant 'default'
#|   source    kept: 1 file, 50 bytes
#|   built on  cpu-a (Portable Computing Language): scale
#|   launched  scale: 64, NULL in 2 dimensions
#| program 'reduce', variant 'default'
#|   source    not kept
#| == another source than the bundle has
#| exit 2
#| app
#| before.clbin
#| conflict.clbin
#| cut.clbin
#| layer.so
#| one.cl
#| sample.clbin
#| two.cl
# expected errors:
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 300 bytes are present
#| oclcc: error: cannot read '.': Is a directory
#| oclcc: error: cannot write 'none/app.clbin': No such file or directory
#| oclcc: error: '--record' requires a file, because the application may write to standard output
#| oclcc: error: '--record' requires a command: --record app.clbin -- COMMAND
#| oclcc: error: '--record' requires a command: --record app.clbin -- COMMAND
#| oclcc: error: '--record' requires a command: --record app.clbin -- COMMAND
#| oclcc: error: '--record' requires '--' before the command './app'
#| oclcc: error: option '--record' needs a value: --record BUNDLE
#| oclcc: error: '--merge' and '--record' cannot be used together
#| oclcc: error: '-D' cannot be used with '--record'
#| oclcc: error: '--record-binaries' needs '--record'
#| oclcc: error: cannot run './no_such_command': No such file or directory
#| oclcc: error: cannot run './one.cl': Permission denied
#| oclcc: warning: the application built no program: 'app.clbin' is not written
#| oclcc: note: it has not loaded the layer: it does not call OpenCL, is elevated (setuid, capabilities), or its ICD loader does not support OPENCL_LAYERS
#| oclcc: warning: the application built no program: 'app.clbin' is not written
#| oclcc: note: it has not loaded the layer: it does not call OpenCL, is elevated (setuid, capabilities), or its ICD loader does not support OPENCL_LAYERS
#| oclcc: error: CLBIN_LAYER_LIBRARY: there is no file 'none.so'
#| oclcc: error: conflict.clbin: program 'one' was recorded with another source
