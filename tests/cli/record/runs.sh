#!/bin/bash
# --record: many runs are one bundle, whatever ended them.
# shellcheck source=tests/cli/record/layer.bash
source "$CLI_TESTS/record/layer.bash"
echo "== one run"
oclcc --record app.clbin -- ./app one; echo "exit $?"
oclcc --info app.clbin | tail -n +3
oclcc --verify app.clbin
cp app.clbin first.clbin
echo "== the same run again"
oclcc --record app.clbin -- ./app one; echo "exit $?"
oclcc --diff app.clbin first.clbin
cmp app.clbin first.clbin
echo "== another run, which fails, and one that is killed"
oclcc --record app.clbin -- ./app two 7; echo "exit $?"
oclcc --record killed.clbin -- ./app two 137; echo "exit $?"
oclcc --info app.clbin killed.clbin | grep -E '^program|^  (source|built|launched)'
oclcc --verify app.clbin killed.clbin
echo "== without the source"
oclcc --record bare.clbin --no-source -- ./app one; echo "exit $?"
oclcc --info bare.clbin | grep -E '^program|^  (source|built|launched)'
echo "== the streams and words of the application are its own"
echo input | oclcc --record none.clbin -- sh -c 'cat; echo "$#:$1:$2:$3"; echo err >&2' name '' '@x' --help
echo "exit $?"
echo "== its variables"
export OPENCL_LAYERS=/other.so
oclcc -q --record none.clbin -- env | sed "s|$PWD|.|" | grep -E '^(OPENCL_LAYERS|CLBIN_LAYER_(MODE|RECORD_.*)|PYOPENCL_NO_CACHE)=' | sort
oclcc -q --record none.clbin --record-binaries --no-source -- env | grep '^CLBIN_LAYER_RECORD_' | sort
oclcc -q --record none.clbin -- sh -c 'ls -ld "$CLBIN_LAYER_RECORD"' | cut -c 1-10
folder=$(oclcc -q --record none.clbin -- sh -c 'echo "$CLBIN_LAYER_RECORD"')
[ ! -e "$folder" ] || echo "$folder is left"
ls
# expected output:
#| == one run
#| exit 0
#|
#| program 'one', variant 'default'
#|   options   -DN=2
#|   source    kept: 1 file, 50 bytes
#|   built on  cpu-a (Portable Computing Language): scale
#|   launched  scale: 64, NULL in 2 dimensions
#| == the same run again
#| exit 0
#| == another run, which fails, and one that is killed
#| exit 7
#| exit 137
#| program 'one', variant 'default'
#|   source    kept: 1 file, 50 bytes
#|   built on  cpu-a (Portable Computing Language): scale
#|   launched  scale: 64, NULL in 2 dimensions
#| program 'two', variant 'default'
#|   source    kept: 1 file, 46 bytes
#|   built on  cpu-a (Portable Computing Language): fill
#|   launched  fill: 16x4
#| program 'two', variant 'default'
#|   source    kept: 1 file, 46 bytes
#|   built on  cpu-a (Portable Computing Language): fill
#|   launched  fill: 16x4
#| == without the source
#| exit 0
#| program 'one', variant 'default'
#|   source    not kept
#|   built on  cpu-a (Portable Computing Language): scale
#|   launched  scale: 64, NULL in 2 dimensions
#| == the streams and words of the application are its own
#| input
#| 3::@x:--help
#| exit 0
#| == its variables
#| CLBIN_LAYER_MODE=record
#| CLBIN_LAYER_RECORD_BINARIES=0
#| CLBIN_LAYER_RECORD_SOURCE=1
#| OPENCL_LAYERS=/other.so:./layer.so
#| PYOPENCL_NO_CACHE=1
#| CLBIN_LAYER_RECORD_BINARIES=1
#| CLBIN_LAYER_RECORD_SOURCE=0
#| drwx------
#| app
#| app.clbin
#| bare.clbin
#| first.clbin
#| killed.clbin
#| layer.so
#| one.cl
#| two.cl
# expected errors:
#| oclcc: note: signal 9 (Killed) ended the application: what it had built is recorded
#| err
#| oclcc: warning: the application built no program: 'none.clbin' is not written
#| oclcc: note: it has not loaded the layer: it does not call OpenCL, is elevated (setuid, capabilities), or its ICD loader does not support OPENCL_LAYERS
