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
# expected output:
#| exit 0
#| exit 2
#| == another source that cannot be identified
#| exit 0
# expected errors:
#| oclcc: warning: program 'one' (kernel 'scale') is recorded, but no bundle serves it: source:2: it contains a zero byte
#| oclcc: warning: app.clbin: program 'one' is not built, and its entries are kept: its source contains a zero byte, which compilers read in different ways
#| oclcc: error: app.clbin: no program of it can be built
#| oclcc: warning: program 'two' (kernel 'clock') is recorded, but no bundle serves it: source:1: __TIME__ changes with every build
