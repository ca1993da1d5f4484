#!/bin/bash
# What was recorded of launches and builds: every mode that writes bundles keeps it.
echo 'kernel void scale(global float* a) { a[0] *= N; }' > k.cl
record() { make_bundle recording k.cl program "$@"; }
record two -DN=2 'scale fill' cpu-a 'scale 1 64 1 1;scale 2 16 16 1;scale 2 0 0 0;fill 1 0 0 0' two.clbin
record two -DN=2 'scale' cpu-b 'scale 3 8 4 2;scale 1 64 1 1' more.clbin
record three -DN=3 'scale' cpu-a '' three.clbin
oclcc --merge two.clbin more.clbin three.clbin -o all.clbin; echo "exit $?"
oclcc --merge three.clbin two.clbin more.clbin -o other.clbin
cmp all.clbin other.clbin
oclcc --info all.clbin | tail -n +3
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
