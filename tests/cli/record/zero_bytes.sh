#!/bin/bash
# --record: a source with a zero byte that is not at its end is recorded with a warning, and is not
# compiled: compilers differ in what they read of it.
# shellcheck source=tests/cli/record/layer.bash
source "$CLI_TESTS/record/layer.bash"
printf '#define N 2\n\0kernel void scale(global float* a) { a[0] *= N; }\n' > one.cl
echo 'kernel void clock(global int* a) { a[0] = sizeof(__TIME__); }' > two.cl
oclcc --record app.clbin -- ./app one; echo "exit $?"
oclcc app.clbin --target nvptx:sm_70 -o compiled.clbin; echo "exit $?"
ls compiled.clbin 2>/dev/null
echo "== another source that cannot be identified"
oclcc --record clock.clbin -- ./app two; echo "exit $?"
