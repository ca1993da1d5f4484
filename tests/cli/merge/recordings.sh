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
