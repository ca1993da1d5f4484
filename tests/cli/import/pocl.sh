#!/bin/bash
# A binary of an installed device, imported, is the entry that oclcc would have compiled for it: it
# loads on that device, and only there. A document of --identity --json names the device elsewhere.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
see_only "Portable Computing Language"
echo 'kernel void fill(global int* values, int value) { values[get_global_id(0)] = value; }' > fill.cl
oclcc fill.cl --no-source -o compiled.clbin
oclcc --extract compiled.clbin -o - > fill.poclbin
oclcc --identity --json > machine.json
feature=$(python3 -c 'import json; print(json.load(open("machine.json"))["devices"][0]["feature"])')
oclcc --import fill:Portable=fill.poclbin -o here.clbin
oclcc --verify --run here.clbin && echo "it loads"
OCL_ICD_VENDORS=/nonexistent OPENCL_VENDOR_PATH=/nonexistent \
  oclcc --import --machine machine.json "fill:$feature=fill.poclbin" -o there.clbin
cmp here.clbin there.clbin && echo "the same bundle"
oclcc --extract there.clbin -o - | cmp - fill.poclbin && echo "the same bytes"
oclcc --explain here.clbin | grep -c 'exact identity'
for bundle in compiled here; do
  oclcc --info --json $bundle.clbin | python3 -c '
import json, sys
print(json.load(sys.stdin)["bundles"][0]["groups"][0]["entries"][0]["target"])' > $bundle.target
done
cmp compiled.target here.target && echo "the same target"
oclcc --import fill.poclbin -o k.clbin; echo "exit $?"
cp "$ROOT/tests/unit/format/binaries/sm_80.cubin" "$ROOT/tests/unit/format/binaries/kernel.spv" .
oclcc --import Portable=sm_80.cubin -o k.clbin; echo "exit $?"
oclcc --import "PoCL@3=fill.poclbin" -o k.clbin; echo "exit $?"
oclcc --import "nothing=fill.poclbin" -o k.clbin; echo "exit $?"
oclcc --import --machine fill.cl "nothing=fill.poclbin" -o k.clbin; echo "exit $?"
oclcc --import kernel.spv -o il.clbin
oclcc kernel.spv -o compiled_il.clbin && cmp il.clbin compiled_il.clbin && echo "the same bundle of IL"
# expected output:
#| it loads
#| the same bundle
#| the same bytes
#| 1
#| the same target
#| exit 3
#| exit 2
#| exit 2
#| exit 5
#| exit 2
#| the same bundle of IL
# expected errors:
#| oclcc: error: fill.poclbin: PoCL binary, format 9 does not name its device: name it, as TARGET=FILE
#| oclcc: error: sm_80.cubin: cubin sm_80 is not a format of this device's family, pocl
#| oclcc: error: fill.poclbin: PoCL binary, format 9 is not a binary of a device that NAME@DRIVER identifies
#| oclcc: error: fill.poclbin: no device matches 'nothing'; there are 0:0 '*' (Portable Computing Language)
#| oclcc: error: fill.poclbin: 'fill.cl' is not a document of 'oclcc --identity --json': not valid JSON at byte 1
