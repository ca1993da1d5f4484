#!/bin/bash
# Tests of examples/ci.

### pipeline
# The script compiles, compares with the last bundle, signs, and fails if a kernel needs more.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_50
needs amdgcn:gfx1030
export TARGETS="nvptx:sm_50 amdgcn:gfx1030"
mkdir kernels
write_kernel() { # COUNT: of the values that it keeps at once
  {
    echo 'kernel void k(global float* a) { size_t i = get_global_id(0); float s = 0, v[COUNT];'
    echo 'for (int j = 0; j < COUNT; ++j) v[j] = a[i + j * 64];'
    echo 'barrier(CLK_GLOBAL_MEM_FENCE); for (int j = 0; j < COUNT; ++j) s += v[j] * a[i - j]; a[i] = s; }'
  } | sed "s/COUNT/$1/g" > kernels/k.cl
}
write_kernel 2
oclcc --keygen key --no-passphrase
SIGNING_KEY=$(cat key.key) sh "$ROOT/examples/ci/kernels.sh" || echo "exit $?"
oclcc --verify --public-key key.pub out/kernels.clbin && ls out && ls
cp out/kernels.clbin previous.clbin
sh "$ROOT/examples/ci/kernels.sh" || echo "exit $?"
write_kernel 48
sh "$ROOT/examples/ci/kernels.sh"; echo "exit $?"
grep -o '"exceeds": "+10%"' out/kernels.html
# expected output:
#| kernels.clbin
#| kernels.html
#| provenance.json
#| resources.csv
#| sbom.json
#| kernels
#| key.key
#| key.pub
#| out
#| exit 1
#| "exceeds": "+10%"
#| "exceeds": "+10%"
#| "exceeds": "+10%"
# expected errors:
#| out/kernels.clbin: error: program 'k', variant 'default', kernel 'k', 'amdgcn:gfx1030': registers changed from 6 to 60, which exceeds +10%
#| out/kernels.clbin: error: program 'k', variant 'default', kernel 'k', 'amdgcn:gfx1030': code bytes changed from 168 to 984, which exceeds +10%
#| out/kernels.clbin: error: program 'k', variant 'default', kernel 'k', 'nvptx:sm_50': instructions changed from 18 to 59, which exceeds +10%

### workflows
# The workflows are YAML, and run the script.
for python in python3 /usr/bin/python3 none; do
  [ $python = none ] && { echo "no PyYAML"; exit 77; }
  $python -c 'import yaml' 2> /dev/null && break
done
$python - "$ROOT/examples/ci" <<'END'
import pathlib, sys, yaml
folder = pathlib.Path(sys.argv[1])
job = yaml.safe_load((folder / "github.yml").read_text())["jobs"]["kernels"]
print([step.get("run", step.get("uses")).split()[0] for step in job["steps"]])
print([step["run"] for step in job["steps"] if "kernels.sh" in step.get("run", "")])
print(yaml.safe_load((folder / "gitlab.yml").read_text())["kernels"]["script"])
END
# expected output:
#| ['actions/checkout@v4', 'apt-get', 'curl', 'sh', 'actions/upload-artifact@v4']
#| ['sh ci/kernels.sh']
#| ['sh ci/kernels.sh']
