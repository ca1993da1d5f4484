#!/bin/bash
# A plan as JSON builds the bytes of one run, without what the cache contains.
# shellcheck source=tests/cli/plan/sources.bash
source "$CLI_TESTS/plan/sources.bash"
words+=(-o "out \$1.clbin")
oclcc --plan=json "${words[@]}" 2>&1 | counts
ls
plan="out \$1.plan/plan.json"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/plan.schema.json" < "$plan"
python3 "$CLI_TESTS/plan/run_plan.py" "$plan" | counts
mv "out \$1.clbin" planned.clbin
oclcc --no-cache "${words[@]}"
cmp "out \$1.clbin" planned.clbin && rm "out \$1.clbin"
# Everything is in the cache now. --no-cache ignores it.
oclcc --plan=json "${words[@]}" 2>&1 | counts
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/plan.schema.json" < "$plan"
python3 "$CLI_TESTS/plan/run_plan.py" "$plan" | counts
cmp "out \$1.clbin" planned.clbin
oclcc --plan=json "${words[@]}" --no-cache 2>&1 | counts
# Only units of another program are missing, and a module needs no unit.
cp "$ROOT/tests/unit/format/binaries/arguments.spv" module.spv
echo 'kernel void d(global int* a) { *a = 4; }' > d.cl
rm -r "out \$1."*
oclcc --plan=json "${words[@]}" d.cl module.spv 2>&1 | sed "s/: $((units / 2)) units/: HALF/" | counts
python3 "$CLI_TESTS/plan/run_plan.py" "$plan" | cut -d , -f 2- | counts
mv "out \$1.clbin" planned.clbin
oclcc "${words[@]}" d.cl module.spv
cmp "out \$1.clbin" planned.clbin
# expected output:
#| oclcc: note: out $1.plan/plan.json: ALL units to build; 0 in the compile cache
#| a|$b's.cl
#| b.cl
#| in c
#| out $1.plan
#| fits the schema
#| ALL built, 0 cached, inputs ["a|$b's.cl", 'b.cl', 'in c/h.h']
#| oclcc: note: out $1.plan/plan.json: 0 units to build; ALL in the compile cache
#| fits the schema
#| 0 built, ALL cached, inputs ["a|$b's.cl", 'b.cl', 'in c/h.h']
#| oclcc: note: out $1.plan/plan.json: ALL units to build; 0 in the compile cache
#| oclcc: note: out $1.plan/plan.json: HALF to build; ALL in the compile cache
#|  ALL cached, inputs ["a|$b's.cl", 'b.cl', 'd.cl', 'in c/h.h', 'module.spv']
