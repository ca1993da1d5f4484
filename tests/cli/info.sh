#!/bin/bash
# Tests of --info.

### bad_manifest
# Prints the entries from the tables, then the error in the manifest.
for value in '"2048"' -1 1e300 '2048,"local_bytes":2048' 18446744073709551616 null; do
  make_bundle manifest '"local_bytes":2048' "\"local_bytes\":$value" m.clbin
  oclcc --info -v m.clbin > out; echo "exit $?, $(grep -c '^  entry' out) entries"
done
make_bundle manifest '{' '[' m.clbin
oclcc --info -v m.clbin > out; echo "exit $?, $(grep -c '^  entry' out) entries"
# expected output:
#| exit 4, 7 entries
#| exit 4, 7 entries
#| exit 4, 7 entries
#| exit 4, 7 entries
#| exit 4, 7 entries
#| exit 4, 7 entries
#| exit 4, 7 entries
# expected errors:
#| oclcc: error: m.clbin: manifest of program 'reduce': entries[0].kernels[0].local_bytes: expected an unsigned integer, found a string
#| oclcc: error: m.clbin: manifest of program 'reduce': entries[0].kernels[0].local_bytes: expected an unsigned integer, found -1
#| oclcc: error: m.clbin: manifest of program 'reduce': entries[0].kernels[0].local_bytes: expected an unsigned integer, found 1e300
#| oclcc: error: m.clbin: manifest of program 'reduce': entries[0].kernels[0]: duplicate key 'local_bytes'
#| oclcc: error: m.clbin: manifest of program 'reduce': entries[0].kernels[0].local_bytes: expected an unsigned integer, found 18446744073709551616
#| oclcc: error: m.clbin: manifest of program 'reduce': entries[0].kernels[0].local_bytes: expected an unsigned integer, found null
#| oclcc: error: m.clbin: manifest of program 'reduce': [1]: not valid JSON at byte 11

### cut
# Prints everything before the cut, then the error. Exits with 4 at every length.
make_bundle sample s.clbin
size=$(stat -c %s s.clbin)
head -c $((size - 1)) s.clbin > cut.clbin
oclcc --info -v cut.clbin > out; echo "exit $?, $(grep -c '^  entry' out) entries"
for ((n = 0; n < size; n += 97)); do
  head -c $n s.clbin > cut.clbin
  oclcc --info -v cut.clbin > /dev/null 2> err || [ $? -eq 4 ] || echo "at $n: another status"
  grep -q '^oclcc: error: cut.clbin: ' err || echo "at $n: $(cat err)"
done
# expected output:
#| exit 4, 7 entries
# expected errors:
#| oclcc: error: cut.clbin: prefix: total_bytes is *, but only * bytes are present

### json
make_bundle sample s.clbin
oclcc --info --json s.clbin | python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json"
oclcc --info --json s.clbin | python3 -c '
import json, sys
bundle = json.load(sys.stdin)["bundles"][0]
for group in bundle["groups"]:
    print(group["program"], group["variant"], group["source_kept"])
    for entry in group["entries"]:
        print(" ", entry["format"]["kind"], entry["format"]["target"], entry["format"]["version"],
              entry["target"]["device"] or entry["target"]["spec"],
              [kernel["name"] for kernel in entry["kernels"]])
'
# expected output:
#| fits the schema
#| matmul default True
#|   ptx sm_50 7.5 nvptx:sm_50 ['add', 'multiply']
#|   ptx sm_70 7.5 nvptx:sm_70 ['add', 'multiply']
#|   poclbin None None cpu-a ['add', 'multiply']
#| matmul fast True
#|   unknown None None cpu-a ['add', 'multiply']
#|   ptx sm_70 7.5 nvptx:sm_70 ['add', 'multiply']
#| reduce default False
#|   ptx sm_80 7.5 nvptx:sm_80 ['add', 'multiply']
#|   poclbin None None cpu-b ['add', 'multiply']

### json_of_damage
# For a damaged or missing bundle, the document still fits the schema.
make_bundle sample s.clbin
head -c 2000 s.clbin > cut.clbin
oclcc --info --json cut.clbin none.clbin > out; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json" < out
# expected output:
#| exit 4
#| fits the schema
# expected errors:
#| oclcc: error: cut.clbin: prefix: total_bytes is *, but only * bytes are present
#| oclcc: error: 'cut.clbin': page *
#| oclcc: error: cannot open 'none.clbin': No such file or directory

### newer_version
make_bundle newer n.clbin
oclcc --info -v n.clbin
# expected exit status: 4
# expected errors:
#| oclcc: error: n.clbin: prefix: format version 2.0 is newer than 1.0, which this version reads

### not_a_bundle
echo 'kernel void k() {}' > k.cl
oclcc --info -v k.cl; echo "exit $?"
: > empty.clbin
oclcc --info -v empty.clbin; echo "exit $?"
mkdir d
oclcc --info -v d; echo "exit $?"
oclcc --info -v none.clbin
# expected exit status: 3
# expected output:
#| exit 4
#| exit 4
#| exit 3
# expected errors:
#| oclcc: error: k.cl: not a bundle: it starts with 6b 65 72 6e 65 6c 20 76
#| oclcc: note: 'k.cl' looks like OpenCL source: compile it first: oclcc k.cl
#| oclcc: error: empty.clbin: not a bundle: it is empty
#| oclcc: error: cannot read 'd': Is a directory
#| oclcc: error: cannot open 'none.clbin': No such file or directory

### sample
make_bundle sample s.clbin
oclcc --info -v s.clbin
# expected output:
#| s.clbin: bundle of format 1.0, 7 entries, * bytes
#|   digest    *
#|
#| program 'matmul', variant 'default'
#|   options   none
#|   source    kept: 2 files, 78 bytes
#|   entry     PTX 7.5 for sm_50
#|     target    nvptx:sm_50
#|     size      261 bytes, * stored against another payload
#|     digest    e7fdb04d050b53520e0cc37a9c9a8eb98d587a9baf311f1eb0dde11c376ef513
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|   entry     PTX 7.5 for sm_70
#|     target    nvptx:sm_70
#|     size      261 bytes, * stored against another payload
#|     digest    fbf5a94137aebfff3e620b9e08b0c145690d28174c90c3fdc94e21ac030bd632
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|   entry     PoCL binary
#|     platform  Portable Computing Language
#|     device    cpu-a
#|     driver    3.1
#|     size      42 bytes, * stored
#|     digest    c452c4a3f1f4cadfe53dba8198229001a7b7cdf62f35210347cd5a945e751d7c
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     launch    the first launch of every kernel compiles; --specialize avoids it
#|
#| program 'matmul', variant 'fast'
#|   options   -cl-fast-relaxed-math
#|   source    kept: 2 files, 78 bytes
#|   entry     Portable Computing Language binary
#|     platform  Portable Computing Language
#|     device    cpu-a
#|     driver    3.1
#|     size      50 bytes, * stored
#|     digest    ba069486db55e934db41a2ef53707a2cf008cd055c63f1061f77a60b2d02e473
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     launch    the first launch of every kernel compiles; --specialize avoids it
#|   entry     PTX 7.5 for sm_70
#|     target    nvptx:sm_70
#|     size      261 bytes, * stored against another payload
#|     digest    fbf5a94137aebfff3e620b9e08b0c145690d28174c90c3fdc94e21ac030bd632
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|
#| program 'reduce', variant 'default'
#|   options   -DWIDTH=8
#|   source    not kept
#|   entry     PTX 7.5 for sm_80
#|     target    nvptx:sm_80
#|     size      261 bytes, * stored
#|     digest    9b80568e0262b72f84c10c4c558fc8155df02e10f70a94ddc98cb3020240d53d
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|   entry     PoCL binary
#|     platform  Portable Computing Language
#|     device    cpu-b
#|     driver    3.1
#|     size      42 bytes, * stored
#|     digest    c452c4a3f1f4cadfe53dba8198229001a7b7cdf62f35210347cd5a945e751d7c
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     launch    the first launch of every kernel compiles; --specialize avoids it

### several
# Prints each bundle. The exit status is that of the first error.
make_bundle sample s.clbin
oclcc --info -v s.clbin none.clbin - < s.clbin > out; echo "exit $?"
grep -v '^ ' out
# expected output:
#| exit 3
#| s.clbin: bundle of format 1.0, 7 entries, * bytes
#|
#| program 'matmul', variant 'default'
#|
#| program 'matmul', variant 'fast'
#|
#| program 'reduce', variant 'default'
#|
#| <stdin>: bundle of format 1.0, 7 entries, * bytes
#|
#| program 'matmul', variant 'default'
#|
#| program 'matmul', variant 'fast'
#|
#| program 'reduce', variant 'default'
# expected errors:
#| oclcc: error: cannot open 'none.clbin': No such file or directory

### signatures
# Signatures, counters and vouches, and whether they hold.
make_bundle sample s.clbin
oclcc --info --json s.clbin > unsigned.json
for name in a old; do oclcc --keygen $name --no-passphrase; done
oclcc --sign --key a.key --counter 18446744073709551615 --vouched-by old.key s.clbin
oclcc --info -v s.clbin | head -6
key() { tail -n 1 "$1" | base64 -d | tail -c 32 | od -An -tx1 | tr -d ' \n'; }
[ "$(oclcc --info -v s.clbin | grep -c "$(key a.pub)")" = 3 ] && [ "$(oclcc --info -v s.clbin | grep -c "$(key old.pub)")" = 1 ] && echo 'keys'
oclcc --info --json s.clbin > signed.json
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json" < signed.json
last=$(tail -c 1 s.clbin | od -An -tu1)
printf "\\$(printf %03o $((last ^ 1)))" | dd of=s.clbin bs=1 seek=$(($(stat -c %s s.clbin) - 1)) conv=notrunc status=none
oclcc --info -v s.clbin | grep ' hold'
python3 - <<'END_OF_PYTHON'
import json

signed, unsigned = (json.load(open(name))["bundles"][0] for name in ("signed.json", "unsigned.json"))
for member in ("signatures", "counters", "vouches"):
    assert len(signed[member]) == 1 and signed[member][0]["holds"] is True
    assert member not in unsigned
assert signed["counters"][0]["counter"] == 2**64 - 1
assert signed["signatures"][0]["public_key"] == signed["vouches"][0]["new_public_key"]
print("done")
END_OF_PYTHON
# expected output:
#| s.clbin: bundle of format 1.0, 7 entries, 4192 bytes
#|   digest    *
#|   signature by key *: holds
#|   counter   18446744073709551615 by key *: holds
#|   vouch     by key * for key *: holds
#|
#| keys
#| fits the schema
#|   signature by key *: holds
#|   counter   18446744073709551615 by key *: holds
#|   vouch     by key * for key *: does not hold
#| done

### starts_no_opencl
# Looks for neither a platform nor the ICD loader.
make_bundle sample s.clbin
oclcc --info -v s.clbin > with
mkdir none
OCL_ICD_VENDORS=$PWD/none oclcc --info -v s.clbin | cmp - with
mkdir broken && : > broken/libOpenCL.so.1
LD_LIBRARY_PATH=$PWD/broken oclcc --info -v s.clbin | cmp - with
if command -v strace > /dev/null; then
  strace -f -e trace=openat oclcc --info -v s.clbin 2>&1 > /dev/null | grep -i -E 'opencl|\.icd'
  true
fi
