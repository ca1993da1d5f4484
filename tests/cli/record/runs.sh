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
