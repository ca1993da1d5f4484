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
