#!/bin/bash
# Tests of --merge.

### conflicts
# For bundles that disagree, the message names the program, the variant and both files. Nothing is
# written.
make_bundle sample s.clbin
for kind in other-source other-options other-payload; do
  make_bundle $kind other.clbin
  oclcc --merge s.clbin other.clbin -o b.clbin; echo "exit $?"
  oclcc --merge other.clbin s.clbin -o b.clbin; echo "exit $?"
done
ls
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| other.clbin
#| s.clbin
# expected errors:
#| oclcc: error: 'other.clbin': program 'matmul' has different source in 's.clbin'
#| oclcc: error: 's.clbin': program 'matmul' has different source in 'other.clbin'
#| oclcc: error: 'other.clbin': program 'reduce', variant 'default' has options '-DWIDTH=16' here and '-DWIDTH=8' in 's.clbin'
#| oclcc: error: 's.clbin': program 'reduce', variant 'default' has options '-DWIDTH=8' here and '-DWIDTH=16' in 'other.clbin'
#| oclcc: error: 'other.clbin': program 'matmul', variant 'default' has two different binaries of kind ptx for 'nvptx:sm_50' (the other one is in 's.clbin')
#| oclcc: error: 's.clbin': program 'matmul', variant 'default' has two different binaries of kind ptx for 'nvptx:sm_50' (the other one is in 'other.clbin')

### given_twice
make_bundle sample s.clbin
ln -s s.clbin link.clbin
oclcc --merge s.clbin s.clbin link.clbin -o b.clbin; echo "exit $?"
cmp s.clbin b.clbin
oclcc -q --merge s.clbin s.clbin -o b.clbin
# expected output:
#| exit 0
# expected errors:
#| oclcc: warning: 's.clbin' is given twice
#| oclcc: warning: 'link.clbin' is given twice

### into_an_input
# The output may be one of the inputs: all are read before it is written.
make_bundle unit 0 all.clbin
make_bundle unit 1 one.clbin
oclcc --merge all.clbin one.clbin -o all.clbin; echo "exit $?"
oclcc --info -v all.clbin | grep target
# expected output:
#| exit 0
#|     target    nvptx:sm_50
#|     target    nvptx:sm_70

### json
make_bundle unit 0 a.clbin
make_bundle unit 1 b.clbin
make_bundle other-source c.clbin
schema=$ROOT/oclcc/schema/change.schema.json
oclcc --merge a.clbin - -o m.clbin --json < b.clbin | tee merge.json; python3 "$CLI_TESTS/check_schema.py" "$schema" < merge.json
oclcc --merge a.clbin c.clbin -o n.clbin --json > conflict.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$schema" < conflict.json
grep message conflict.json
make_bundle sample s.clbin
oclcc --strip --json --strip-source --keep-target sm_70 s.clbin -o t.clbin | tee strip.json
python3 "$CLI_TESTS/check_schema.py" "$schema" < strip.json
oclcc --repack --json s.clbin t.clbin missing.clbin > repack.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$schema" < repack.json
# expected output:
#| {
#|   "bundles": [
#|     {
#|       "dropped_entries": 0,
#|       "hidden_dependents": 0,
#|       "hidden_payloads": 0,
#|       "hidden_stored_bytes": 0,
#|       "inputs": [
#|         "a.clbin",
#|         "<stdin>"
#|       ],
#|       "nothing_left_of": [],
#|       "output": "m.clbin",
#|       "removed_losers": [],
#|       "removed_signatures": 0,
#|       "total_bytes": 2448
#|     }
#|   ],
#|   "errors": [],
#|   "version": 1
#| }
#| fits the schema
#| exit 2
#| fits the schema
#|       "message": "'c.clbin': program 'matmul' has different source in 'a.clbin'"
#| {
#|   "bundles": [
#|     {
#|       "dropped_entries": 5,
#|       "hidden_dependents": 1,
#|       "hidden_payloads": 1,
#|       "hidden_stored_bytes": 203,
#|       "inputs": [
#|         "s.clbin"
#|       ],
#|       "nothing_left_of": [
#|         "program 'reduce'"
#|       ],
#|       "output": "t.clbin",
#|       "removed_losers": [],
#|       "removed_signatures": 0,
#|       "total_bytes": 1736
#|     }
#|   ],
#|   "errors": [],
#|   "version": 1
#| }
#| fits the schema
#| exit 3
#| fits the schema
# expected errors:
#| oclcc: error: 'c.clbin': program 'matmul' has different source in 'a.clbin'
#| oclcc: error: cannot open 'missing.clbin': No such file or directory

### many_inputs
# More inputs than the soft limit of open files allows, which --merge raises; the hard limit stays.
mkdir units
make_bundle units 300 100 units
ls units/* > list
oclcc --merge @list -o whole.clbin
(
  ulimit -Sn 100
  oclcc --merge @list -o limited.clbin
)
cmp limited.clbin whole.clbin && echo "the same"
(
  ulimit -n 100
  oclcc --merge @list -o none.clbin 2>&1 | head -1 | cut -d : -f 1,2,4
)
ls
# expected output:
#| the same
#| oclcc: error: Too many open files
#| limited.clbin
#| list
#| units
#| whole.clbin

### recordings
# What was recorded of launches and builds: every mode that writes bundles keeps it.
echo 'kernel void scale(global float* a) { a[0] *= N; }' > k.cl
record() { make_bundle recording k.cl program "$@"; }
record two -DN=2 'scale fill' cpu-a 'scale 1 64 1 1;scale 2 16 16 1;scale 2 0 0 0;fill 1 0 0 0' two.clbin
record two -DN=2 'scale' cpu-b 'scale 3 8 4 2;scale 1 64 1 1' more.clbin
record three -DN=3 'scale' cpu-a '' three.clbin
oclcc --merge two.clbin more.clbin three.clbin -o all.clbin; echo "exit $?"
oclcc --merge three.clbin two.clbin more.clbin -o other.clbin
cmp all.clbin other.clbin
oclcc --info -v all.clbin | tail -n +3
oclcc --verify all.clbin
oclcc --info --json all.clbin > all.json
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json" < all.json
tr -d ' \n' < all.json | grep -o '"recorded_launches":[^}]*}' | sort -u
oclcc --repack all.clbin -o repacked.clbin
oclcc --strip --drop-target none -q all.clbin -o stripped.clbin
for same in repacked.clbin stripped.clbin; do oclcc --diff all.clbin $same; done
oclcc --diff two.clbin more.clbin; echo "exit $?"
oclcc --diff --json two.clbin more.clbin |
  python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/diff.schema.json"
# expected output:
#| exit 0
#|
#| program 'program', variant 'three'
#|   options   -DN=3
#|   source    kept: 1 file, 50 bytes
#|   built on  cpu-a (Portable Computing Language): scale
#|
#| program 'program', variant 'two'
#|   options   -DN=2
#|   source    kept: 1 file, 50 bytes
#|   built on  cpu-b (Portable Computing Language): scale
#|   built on  cpu-a (Portable Computing Language): fill, scale
#|   launched  fill: NULL in 1 dimension
#|   launched  scale: 64, NULL in 2 dimensions, 16x16, 8x4x2
#| fits the schema
#| "recorded_launches":[],"source_kept":true,"sources":[{"bytes":50,"name":"source"}
#| "recorded_launches":[{"dimensions":1,"has_offset":false,"kernel":"fill","local_size":null}
#| --- two.clbin
#| +++ more.clbin
#| - program 'program', variant 'two': builds cpu-a (Portable Computing Language): fill, scale (caf03a9ceb7fe313)
#| + program 'program', variant 'two': builds cpu-b (Portable Computing Language): scale (a05f221f46e69cfd)
#| - program 'program', variant 'two': launches fill: NULL in 1 dimension; scale: 64, NULL in 2 dimensions, 16x16
#| + program 'program', variant 'two': launches scale: 64, 8x4x2
#| exit 1
#| fits the schema

### refused
make_bundle sample s.clbin
head -c 3000 s.clbin > cut.clbin
cp s.clbin damaged.clbin
printf X | dd of=damaged.clbin bs=1 seek=3700 conv=notrunc status=none
mkdir folder
oclcc --merge s.clbin; echo "exit $?"
oclcc --merge -o b.clbin; echo "exit $?"
oclcc --merge s.clbin cut.clbin missing.clbin folder -o b.clbin; echo "exit $?"
oclcc --merge s.clbin damaged.clbin -o b.clbin; echo "exit $?"
oclcc --merge s.clbin -o folder; echo "exit $?"
oclcc --merge s.clbin --json -o -; echo "exit $?"
oclcc --merge s.clbin --strip-source -o b.clbin; echo "exit $?"
oclcc --merge - - -o b.clbin; echo "exit $?"
ls
# expected output:
#| exit 2
#| exit 2
#| exit 4
#| exit 4
#| exit 3
#| exit 2
#| exit 2
#| exit 2
#| cut.clbin
#| damaged.clbin
#| folder
#| s.clbin
# expected errors:
#| oclcc: error: '--merge' needs an output: name one with '-o'
#| oclcc: error: '--merge' needs a bundle
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 3000 bytes are present
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: cannot read 'folder': Is a directory
#| oclcc: error: 'damaged.clbin': blob 6: stored_digest does not match: it was changed
#| oclcc: error: cannot write 'folder': Is a directory
#| oclcc: error: '--json' and '-o -' would both write to standard output
#| oclcc: error: '--strip-source' cannot be used with '--merge'
#| oclcc: error: standard input ('-') is given more than once

### units
# Merges the units of a bundle in any order. Repacked, the result equals the bundle made in one run.
make_bundle sample whole.clbin
for i in 0 1 2 3 4 5 6; do make_bundle unit $i "$i.clbin"; done
oclcc --merge [0-6].clbin -o a.clbin; echo "exit $?"
oclcc --merge 3.clbin 6.clbin 0.clbin 5.clbin 1.clbin 4.clbin 2.clbin -o b.clbin
cmp a.clbin b.clbin
oclcc --info -v a.clbin | grep -E "^(program|  source|  entry)"
oclcc --repack a.clbin -o a_repacked.clbin
oclcc --repack whole.clbin -o whole_repacked.clbin
cmp a_repacked.clbin whole_repacked.clbin
# expected output:
#| exit 0
#| program 'matmul', variant 'default'
#|   source    kept: 2 files, 78 bytes
#|   entry     PTX 7.5 for sm_50
#|   entry     PTX 7.5 for sm_70
#|   entry     PoCL binary
#| program 'matmul', variant 'fast'
#|   source    kept: 2 files, 78 bytes
#|   entry     Portable Computing Language binary
#|   entry     PTX 7.5 for sm_70
#| program 'reduce', variant 'default'
#|   source    not kept
#|   entry     PTX 7.5 for sm_80
#|   entry     PoCL binary
