#!/bin/bash
# Tests of measurements: how --info lists them, and how they leave a bundle and come back.

### info
make_bundle sample s.clbin
make_bundle times s.clbin m.clbin
oclcc --info -v m.clbin | grep -E "^program|measured"
oclcc --info --json m.clbin > m.json
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json" < m.json
tr -d ' \n' < m.json | grep -o '"median_ns":0[^}]*}'
oclcc --verify m.clbin
# expected output:
#| program 'matmul', variant 'default'
#|   measured  gpu a (driver 1.0): k 1024: 73 us with NULL, failed with 64 (clEnqueueNDRangeKernel answered CL_INVALID_WORK_GROUP_SIZE)
#| program 'matmul', variant 'fast'
#|   measured  gpu a (driver 1.0): k 1024: 39 us with NULL, 22 us with 64
#| program 'reduce', variant 'default'
#| fits the schema
#| "median_ns":0,"outcome":"failed","reason":"clEnqueueNDRangeKernelansweredCL_INVALID_WORK_GROUP_SIZE","rounds":5,"source":"66565cfb861660f963f9ba8b6d872acd9a85054678fc3399ff70e8e96816030e","spread_ns":0}

### sent_back
# Neither source nor binaries leave the machine. The developer merges the results.
make_bundle sample s.clbin
make_bundle times s.clbin m.clbin
oclcc m.clbin --emit measurements -o results.clbin; echo "exit $?"
oclcc --info results.clbin | grep -vE "root|^$"
grep -q multiply results.clbin || echo 'no source'
oclcc --merge s.clbin results.clbin -o merged.clbin; echo "exit $?"
cmp merged.clbin m.clbin
oclcc --strip --strip-measurements m.clbin -o stripped.clbin
cmp stripped.clbin s.clbin
oclcc --diff s.clbin m.clbin; echo "exit $?"
# expected output:
#| exit 0
#| results.clbin: bundle of format 1.2, 0 entries, 1288 bytes
#|   digest    1789a67fbc9b9c28aa1047f2ccf1d275d17776b285c5f6d11ac548c55f138cb9
#|   kernels   registers/spills/bytes of local memory; '-' is unknown
#| program 'matmul', variant 'default'
#|   options   none
#|   source    not kept
#|   measured  gpu a (driver 1.0): k 1024: 73 us with NULL, failed with 64 (clEnqueueNDRangeKernel answered CL_INVALID_WORK_GROUP_SIZE)
#| program 'matmul', variant 'fast'
#|   options   -cl-fast-relaxed-math
#|   source    not kept
#|   measured  gpu a (driver 1.0): k 1024: 39 us with NULL, 22 us with 64
#| no source
#| exit 0
#| --- s.clbin
#| +++ m.clbin
#| - program 'matmul', variant 'default': measurements 
#| + program 'matmul', variant 'default': measurements gpu a (driver 1.0): k 1024: 73 us with NULL, failed with 64 (clEnqueueNDRangeKernel answered CL_INVALID_WORK_GROUP_SIZE)
#| - program 'matmul', variant 'fast': measurements 
#| + program 'matmul', variant 'fast': measurements gpu a (driver 1.0): k 1024: 39 us with NULL, 22 us with 64
#| exit 1

### other_source
make_bundle other-source other.clbin
make_bundle sample s.clbin
make_bundle times s.clbin m.clbin
oclcc m.clbin --emit measurements -o results.clbin
oclcc --merge other.clbin results.clbin -o merged.clbin; echo "exit $?"
oclcc --merge results.clbin other.clbin -o merged.clbin; echo "exit $?"
[ -e merged.clbin ] || echo 'nothing is written'
# expected output:
#| exit 2
#| exit 2
#| nothing is written
# expected errors:
#| oclcc: error: 'results.clbin': program 'matmul' has measurements in 'results.clbin' of another source than the one in 'other.clbin'
#| oclcc: error: 'other.clbin': program 'matmul' has measurements in 'results.clbin' of another source than the one in 'other.clbin'

### variants_of_a_space
echo 'kernel void f(global int* a) { *a = N * M; }' > k.cl
oclcc k.cl --variants 'N=1,2 M=1,2 if N<=M' --source-only -o k.clbin
oclcc --info k.clbin | grep -E "^program|options"
oclcc k.cl --variants 'N=1,2 if N>2' --source-only -o none.clbin; echo "exit $?"
# expected output:
#| program 'k', variant 'N1_M1'
#|   options   -DN=1 -DM=1
#| program 'k', variant 'N1_M2'
#|   options   -DN=1 -DM=2
#| program 'k', variant 'N2_M2'
#|   options   -DN=2 -DM=2
#| exit 2
# expected errors:
#| oclcc: error: --variants 'N=1,2 if N>2': no combination meets its condition

### errors
make_bundle sample s.clbin
make_bundle times s.clbin m.clbin
echo 'kernel void f() {}' > k.cl
oclcc s.clbin --emit measurements -o r.clbin; echo "exit $?"
oclcc m.clbin s.clbin --emit measurements -o r.clbin; echo "exit $?"
oclcc k.cl --emit measurements -o r.clbin; echo "exit $?"
oclcc m.clbin --emit measurements -o m.clbin; echo "exit $?"
oclcc m.clbin --emit measurements --no-source -o r.clbin; echo "exit $?"
ls
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| k.cl
#| m.clbin
#| s.clbin
# expected errors:
#| oclcc: error: 's.clbin': it contains no measurements
#| oclcc: error: 'm.clbin' is a bundle, and the measurements of only one can be written; see --merge
#| oclcc: error: 'r.clbin' can contain only the measurements of a bundle, and 'k.cl' is none
#| oclcc: error: 'm.clbin' is both an input and the output
#| oclcc: error: '--no-source' cannot be used with 'm.clbin', which is a bundle: nothing is compiled

### default_name
make_bundle sample s.clbin
make_bundle times s.clbin m.clbin
oclcc m.clbin --emit measurements; echo "exit $?"
ls
# expected output:
#| exit 0
#| m.clbin
#| m.measurements
#| s.clbin

### signed
# As any other contents: a changed time breaks the signature.
make_bundle sample s.clbin
make_bundle times s.clbin m.clbin
oclcc --keygen k --no-passphrase
oclcc --sign --key k.key m.clbin
oclcc --verify --public-key k.pub m.clbin; echo "exit $?"
oclcc m.clbin --emit measurements -o results.clbin
oclcc --sign --key k.key results.clbin
oclcc --verify --public-key k.pub results.clbin; echo "exit $?"
# expected output:
#| exit 0
#| exit 0

### encrypted
# Measurements are encrypted, too; the order of variants is not.
make_bundle sample s.clbin
make_bundle times s.clbin m.clbin
oclcc --keygen content --key-type content
oclcc --encrypt --encrypt-key content.key m.clbin -o e.clbin
grep -q INVALID_WORK_GROUP_SIZE e.clbin || echo 'no reason'
oclcc e.clbin --emit measurements -o r.clbin; echo "exit $?"
oclcc --verify e.clbin; echo "exit $?"
# expected output:
#| no reason
#| exit 4
#| exit 0
# expected errors:
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: warning: e.clbin: its contents were not checked, because it is encrypted: name its key with '--decrypt-key'

### explain
# A load uses the variant that was the fastest on another device.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { a[get_global_id(0)] += N; }' > k.cl
oclcc k.cl --variant default=-DN=1 --variant fast=-DN=2 -o k.clbin
make_bundle times k.clbin m.clbin
oclcc --explain m.clbin | grep "variant" | sort -u
oclcc --explain --json m.clbin > m.json
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/explain.schema.json" < m.json
tr -d '\n' < m.json | grep -o '"measured": [^,]*,[^,]*,' | sort -u
# A rebuilt bundle has the same source, and keeps them.
oclcc m.clbin -o m.clbin
oclcc --info -v m.clbin | grep -c "measured"
# expected output:
#|   program 'k', variant 'default': the bundle's binary loads
#|   program 'k', variant 'fast', which was the fastest of 'fast' and 'default', measured on other devices and is used if a load names no variant: the bundle's binary loads
#| fits the schema
#| "measured": "which was the fastest of 'fast' and 'default', measured on other devices",
#| 2
