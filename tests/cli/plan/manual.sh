#!/bin/bash
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
