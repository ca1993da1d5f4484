#!/bin/bash
# Tests of --diff.

### changed
make_bundle sample a.clbin
make_bundle changed b.clbin
oclcc --diff a.clbin b.clbin; echo "exit $?"
oclcc --diff --json a.clbin b.clbin > d.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/diff.schema.json" < d.json
# expected output:
#| --- a.clbin
#| +++ b.clbin
#| - program 'matmul': source matmul.cl (62 bytes, 24628df0697d888b), tile.h (16 bytes, 39918a1f7d1347df)
#| + program 'matmul': source matmul.cl (70 bytes, 741641d712b19941), tile.h (16 bytes, 39918a1f7d1347df)
#| - program 'matmul', variant 'default', 'nvptx:sm_70': kernel add(global float* a, int n); work-group of 16x16x1; 2048 bytes of local memory
#| - program 'matmul', variant 'default', 'nvptx:sm_70': kernel multiply(global float* a, int n); work-group of 16x16x1; 2048 bytes of local memory
#| + program 'matmul', variant 'default', 'nvptx:sm_70': kernel multiply(2 arguments); work-group of 16x16x1; 2048 bytes of local memory
#| - program 'matmul', variant 'default', 'nvptx:sm_50': binary PTX 7.5 for sm_50, 261 bytes (e7fdb04d050b5352)
#| + program 'matmul', variant 'default', 'nvptx:sm_50': binary PTX 7.5 for sm_50, 80 bytes (2ad05363517cf93a)
#| - program 'matmul', variant 'default', 'cpu-a' (Portable Computing Language): entry PoCL binary, 42 bytes (c452c4a3f1f4cadf)
#| - program 'matmul', variant 'fast': options -cl-fast-relaxed-math
#| + program 'matmul', variant 'fast': options -cl-mad-enable
#| - program 'reduce'
#| + program 'scan'
#| exit 1
#| exit 1
#| fits the schema

### refused
make_bundle sample a.clbin
head -c 3000 a.clbin > cut.clbin
oclcc --diff a.clbin; echo "exit $?"
oclcc --diff a.clbin a.clbin a.clbin; echo "exit $?"
oclcc --diff missing.clbin a.clbin; echo "exit $?"
oclcc --diff a.clbin cut.clbin; echo "exit $?"
mkdir folder
oclcc --diff a.clbin folder; echo "exit $?"
oclcc --diff a.clbin a.clbin; echo "exit $?" # a bundle does not differ from itself
# expected output:
#| exit 2
#| exit 2
#| exit 3
#| exit 4
#| exit 3
#| exit 0
# expected errors:
#| oclcc: error: '--diff' compares two bundles, not 1
#| oclcc: error: '--diff' compares two bundles, not 3
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 3000 bytes are present
#| oclcc: error: 'cut.clbin': blob 6 at offset 3312 needs 475 bytes of 3000
#| oclcc: error: cannot read 'folder': Is a directory

### same
# The way in which payloads are stored makes no difference.
make_bundle sample a.clbin
oclcc --diff a.clbin a.clbin; echo "exit $?"
oclcc --repack a.clbin -o b.clbin
cmp -s a.clbin b.clbin || echo "other bytes"
oclcc --diff a.clbin b.clbin; echo "exit $?"
oclcc --diff --json - b.clbin < a.clbin; echo "exit $?"
# expected output:
#| exit 0
#| other bytes
#| exit 0
#| {
#|   "differences": [],
#|   "same": true,
#|   "version": 1
#| }
#| exit 0
