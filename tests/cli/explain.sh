#!/bin/bash
# Tests of --explain.

### damaged
# A file that is not a bundle starts no driver.
echo "no bundle" > n.clbin
oclcc --explain n.clbin; echo "exit $?"
oclcc --explain missing.clbin; echo "exit $?"
oclcc --explain; echo "exit $?"
# expected output:
#| exit 4
#| exit 3
#| exit 2
# expected errors:
#| oclcc: error: n.clbin: not a bundle: it starts with 6e 6f 20 62 75 6e 64 6c
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: '--explain' needs a bundle

### every_device
# --explain passes entries to the drivers, but never foreign entries. It reports source without
# compiling it.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { a[get_global_id(0)] += N; }' > k.cl
oclcc -DN=1 k.cl -o k.clbin
oclcc --explain k.clbin > all; echo "exit $?"
[ "$(grep -c "program 'k', variant 'default': the bundle's binary loads" all)" = "$device_count" ] ||
  { echo "not every device loads:"; cat all; }
[ "$(grep -c '    loaded, exact identity, entry for .*: made for this device; loads' all)" \
  = "$device_count" ] || { echo "not by the exact entry:"; cat all; }

# For the first device alone, entries for other devices are left out.
first=$(echo "$devices" | head -n 1)
oclcc -DN=1 k.cl --device "$first" -o first.clbin
oclcc --explain first.clbin --json > all.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/explain.schema.json" < all.json
python3 - "$first" all.json <<'END'
import json, sys
first, path = sys.argv[1:]
for device in json.load(open(path))["bundles"][0]["devices"]:
    for ladder in device["ladders"]:
        wanted = "entry" if device["id"] == first else "source"
        if ladder["served_by"] != wanted:
            print(device["id"], ladder)
END

# One device.
oclcc --explain --device "$first" first.clbin | grep -c '^[0-9]*:[0-9]*  '
# expected output:
#| exit 0
#| exit 0
#| fits the schema
#| 1

### page
# The page of --report has the decisions of --explain.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { a[get_global_id(0)] += 1; }' > k.cl
oclcc k.cl -o k.clbin
oclcc --report k.clbin --html k.html; echo "exit $?"
python3 -B "$CLI_TESTS/report/page.py" documents k.html
oclcc --explain k.clbin --json > expected.json
python3 - <<'END'
import json
expected, found = (json.load(open(name))["bundles"] for name in ("expected.json", "explain.json"))
print("the same" if found == expected else (found, expected))
END
python3 -B "$CLI_TESTS/report/page.py" browse k.html | sed 's/there is no Chromium/k.html was checked/'
# expected output:
#| exit 0
#| the same
#| k.html was checked

### requires
# A load that names no variant uses the one whose extensions the device has. Bundles that are made of
# the bundle keep what it requires.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
cat > k.cl << 'EOF'
#ifdef HALF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void k(global half* a) { a[0] += (half)1; }
#else
kernel void k(global float* a) { a[0] += 1; }
#endif
EOF
oclcc -v k.cl --variant default= --variant half=-DHALF --requires half=cl_khr_fp16 -o k.clbin > log 2>&1; echo "exit $?"
grep -i 'error' log
oclcc --explain --json k.clbin > explained.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/explain.schema.json" < explained.json
oclcc --list-devices --json -v > devices.json
python3 - << 'END'
import json
able = {device["id"] for device in json.load(open("devices.json"))["devices"]
        if "cl_khr_fp16" in device["properties"]["extensions"].split()}
log = open("log").read()
skipped = log.count("variant 'half' is not compiled for '")
explained = json.load(open("explained.json"))["bundles"][0]["devices"]
if skipped != len(explained) - len(able):
    print(skipped, "skipped of", len(explained), log)
for device in explained:
    for ladder in device["ladders"]:
        is_half = ladder["variant"] == "half"
        fits = device["id"] in able
        expected = ("entry" if fits or not is_half else "none", is_half == fits,
                    ["cl_khr_fp16"] if is_half else [])
        if (ladder["served_by"], ladder["chosen"], ladder["requires"]) != expected:
            print(device["id"], expected, ladder)
END
oclcc --info -v k.clbin | grep -A 3 "variant 'half'"
oclcc --info --json k.clbin | python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json"
oclcc --merge k.clbin -o merged.clbin && cmp k.clbin merged.clbin
oclcc --strip --drop-target '*' k.clbin -o source.clbin
oclcc --repack source.clbin -o repacked.clbin && cmp source.clbin repacked.clbin
oclcc source.clbin -o rebuilt.clbin
for bundle in merged source rebuilt; do
  oclcc --info --json $bundle.clbin | python3 -c '
import json, sys
for group in json.load(sys.stdin)["bundles"][0]["groups"]:
    print(group["variant"], group.get("requires"))'
done
oclcc k.cl --variant default= --variant half=-DHALF -o plain.clbin --source-only
oclcc --diff source.clbin plain.clbin
oclcc --merge source.clbin plain.clbin -o none.clbin
# expected exit status: 2
# expected output:
#| exit 0
#| exit 0
#| fits the schema
#| program 'k', variant 'half'
#|   options   -DHALF
#|   requires  cl_khr_fp16
#|   source    kept: 1 file, 168 bytes
#| fits the schema
#| default None
#| half ['cl_khr_fp16']
#| default None
#| half ['cl_khr_fp16']
#| default None
#| half ['cl_khr_fp16']
#| --- source.clbin
#| +++ plain.clbin
#| - program 'k', variant 'half': requires cl_khr_fp16
#| + program 'k', variant 'half': requires 
# expected errors:
#| oclcc: error: 'plain.clbin': program 'k', variant 'half' requires '' here and 'cl_khr_fp16' in 'source.clbin'

### packs
# The packs of the devices load, --warm finds nothing to build, and a pack that is gone is named.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" two_platforms
echo 'kernel void k(global int* a) { a[get_global_id(0)] += 1; }' > k.cl
oclcc -q k.cl -o k.clbin
oclcc --split=entry k.clbin -o d
oclcc --explain d > all; echo "exit $?"
[ "$(grep -c "program 'k', variant 'default': the bundle's binary loads" all)" = "$device_count" ] ||
  { echo "not every device loads:"; cat all; }
oclcc --warm d > warm; echo "exit $?"
[ "$(grep -c ": 1 from the bundle, 0 from the user cache, 0 built" warm)" = "$device_count" ] ||
  { echo "--warm does not use the packs:"; cat warm; }
find d -name '*.clbin' ! -name base.clbin -delete
oclcc --explain d > all; echo "exit $?"
[ "$(grep -c "  pack '.*', which has entries for the device, is not there" all)" = "$device_count" ] ||
  { echo "the packs are not named:"; cat all; }
oclcc --explain --json d > all.json
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/explain.schema.json" < all.json
oclcc --warm d > warm; echo "exit $?"
grep -c "from the bundle, 0 from the user cache, 1 built" warm | grep -x "$device_count" > built || cat warm
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| fits the schema
#| exit 0
