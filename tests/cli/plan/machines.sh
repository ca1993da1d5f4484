#!/bin/bash
# Plans for other machines, and with odd names.

### machines
# A plan for the devices of several machines is made without them. A unit runs only where its device
# is, and only as long as nothing has changed.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = N; }' > k.cl
oclcc --identity --json > here.json
# Several devices that are the same are one target.
device_count=$(python3 -c 'import json; print(len({device["feature"] for device in json.load(open("here.json"))["devices"]}))')
# Another machine, with one device of this one and one that is not here.
python3 -c '
import copy, json, sys
machine = json.load(open("here.json"))
other = copy.deepcopy(machine["devices"][0])
other["driver_version"] += " of another machine"
del other["feature"]
json.dump({"devices": [machine["devices"][0]]}, open("other.json", "w"))
json.dump({"devices": [other | {"feature": "oclcc_x_0123456789abcdef"}]}, open("wrong.json", "w"))
'
oclcc --plan=json k.cl --machine wrong.json 2> error; echo "exit $?"
# The message has the feature that the device should have.
sed "s/'oclcc_[a-z0-9_]*'/FEATURE/g" error
feature=$(grep -o "oclcc_[a-z0-9_]*'$" error | tr -d "'")
sed "s/oclcc_x_0123456789abcdef/$feature/" wrong.json > far.json
# No driver is started: none of its variables is here. The planning machine has its libraries in
# other directories.
OCL_ICD_VENDORS=/nonexistent LD_LIBRARY_PATH="$PWD" CUDA_HOME="$PWD" oclcc --plan=parallel k.cl -DN=1 --no-cache \
  --machine here.json --machine other.json --machine far.json 2>&1 | sed "s/: $((device_count + 1)) units/: ALL/"
grep -v -F "$feature" k.plan/units.sh > here.sh
wc -l < here.sh | sed "s/^$device_count$/ALL/"
sh -e here.sh
grep -F "$feature" k.plan/units.sh > far.sh
sh far.sh 2>&1 | cut -d ';' -f 1 | sed "s/$feature/FEATURE/"
# Bundles of all but the far unit: the result of one run here.
ls k.plan/units/*.clbin > list
oclcc --merge @list -o merged.clbin
oclcc --repack merged.clbin
oclcc k.cl -DN=1 --no-cache
cmp k.clbin merged.clbin && echo same
rm k.plan/units/*
# The plan covers the variables that a driver's compiler reads.
if grep -F oclcc_oclgrind_ here.sh > oclgrind.sh; then
  OCLGRIND_BUILD_OPTIONS=-DM=1 sh oclgrind.sh 2>&1 | grep -o 'a variable that it reads'
else
  echo 'a variable that it reads' # there is no Oclgrind
fi
# A unit whose source has changed is not what was planned.
echo '// more' >> k.cl
sh here.sh 2>&1 | sed 's/[0-9a-f]\{64\}/KEY/' | sort | uniq -c | sed "s/^ *$device_count /ALL /"
oclcc k.cl -DN=1 --unit 12 --device all; echo "exit $?"
oclcc k.cl k.cl --program l=k.cl -DN=1 --source-only -o l.clbin --unit "$(printf '0%.0s' {1..64})" 2>&1 | cut -c 1-60
oclcc --plan=json k.cl --machine nowhere.json; echo "exit $?"
oclcc k.cl --machine here.json; echo "exit $?"
oclcc --plan=json k.cl --machine here.json --device gpu_of_nobody 2>&1 | cut -d ';' -f 1
# expected output:
#| exit 2
#| oclcc: error: 'wrong.json' is not a document of 'oclcc --identity --json': FEATURE is not the feature of its device, which is FEATURE
#| oclcc: note: k.plan/units.sh: ALL to build; 0 in the compile cache
#| ALL
#| oclcc: error: no device matches 'FEATURE'
#| same
#| a variable that it reads
#| ALL oclcc: error: 'k.cl' is no longer the unit KEY: a source, an option, the compiler, a variable that it reads, or oclcc has changed since the plan was made; make the plan again
#| exit 2
#| oclcc: error: 'k.cl' and 'k.cl' would both be program 'k'; n
#| exit 3
#| exit 2
#| oclcc: error: no device matches 'gpu_of_nobody'
# expected errors:
#| oclcc: error: '--unit' requires the key of a unit, 64 hexadecimal digits, not '12'
#| oclcc: error: cannot open 'nowhere.json': No such file or directory
#| oclcc: error: '--machine' needs '--import' or '--plan'

### manual
# The commands of oclcc-cluster(7), FROM ONE MACHINE TO TWENTY, as they are printed, one after
# another on one machine: each way makes the same bundle as one run. The sbatch is this test's: it
# runs each job at once.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
if ! oclcc --list-targets | grep -q -x spirv:1.2; then
  echo "the tools of spirv:1.2 are not installed"
  exit 77
fi
command -v ninja > found || { echo "there is no ninja"; exit 77; }
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
echo 'kernel void l(global int* a) { *a = 2; }' > l.cl
mkdir bin
cat > bin/sbatch <<'END'
#!/bin/bash
array=''
while [[ $1 == --* ]]; do
  [[ $1 != --array=* ]] || array=${1#*=}
  shift
done
for task in ${array//,/ } ''; do
  [ -z "$task$array" ] || [ -n "$task" ] || continue
  SLURM_ARRAY_TASK_ID=$task sh "$@"
done
echo 7
END
chmod +x bin/sbatch
export PATH=$PWD/bin:$PATH CLBIN_CACHE=0 # or later plans would have no units
oclcc --keygen release --no-passphrase -q
# Each block is a script, block1, block2, …
awk -v section="FROM ONE MACHINE TO TWENTY" '
  /^\.Sh/ { inside = index($0, section) }
  inside && /^\.Ed/ { number = 0 }
  number { gsub(/\\e/, "\\"); gsub(/\\\(dq/, "\""); print > ("block" number) }
  inside && /^\.Bd -literal/ { number = ++count }' "$ROOT/man/oclcc-cluster.7"
compare() {
  oclcc k.cl l.cl "$@" -o whole.clbin
  cmp kernels.clbin whole.clbin && echo "the same"
  rm -r kernels.*
}
run() { echo "$ $(head -1 "block$1" | cut -d ' ' -f 1-3)"; bash -e "block$1" > log 2> errors || cat log errors; }
run 1
compare --target spirv:1.2
run 2
for block in 3 4; do run $block; done
compare -DN=8
run 5
compare -DN=8
for block in 6 7 8; do run $block; done
oclcc --verify --public-key release.pub kernels.clbin
oclcc --strip-signature kernels.clbin -q
compare -DN=8 --device all --target spirv:1.2
ls block*
# expected output:
#| $ oclcc --plan=ninja k.cl
#| the same
#| $ oclcc --identity --json
#| $ oclcc --plan=parallel k.cl
#| $ oclcc --identity |
#| the same
#| $ oclcc --plan=slurm k.cl
#| the same
#| $ oclcc --plan=parallel k.cl
#| $ oclcc --identity |
#| $ sh kernels.plan/finish.sh
#| the same
#| block1
#| block2
#| block3
#| block4
#| block5
#| block6
#| block7
#| block8

### odd_names
# Names with control characters reach the compiler through every engine, run nothing, and are not
# shown as they are.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
device=${devices%%$'\n'*}
name=$'e\033\';touch owned;\'.cl'
echo 'kernel void k(global int* a) { *a = 1; }' > "$name"
oclcc --device "$device" "$name" -o k.clbin --no-cache
mv k.clbin direct.clbin
oclcc --plan=parallel --device "$device" "$name" -o k.clbin -q --no-cache
wc -l < k.plan/units.sh
cat k.plan/units.sh k.plan/finish.sh > run.sh
dash -e run.sh; echo "exit $?"
cmp k.clbin direct.clbin
rm -r k.clbin k.plan
oclcc --plan=ninja --device "$device" "$name" -o k.clbin -q --no-cache
grep '^  what = ' k.plan/plan.ninja | grep -c $'\033'
if command -v ninja > /dev/null; then
  ninja -f k.plan/plan.ninja > log || cat log
  grep -c $'\033' log
  cmp k.clbin direct.clbin
else
  echo 0
fi
[ ! -e owned ] || echo "a name ran a command"
# expected output:
#| 1
#| exit 0
#| 0
#| 0
