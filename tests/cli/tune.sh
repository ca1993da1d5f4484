#!/bin/bash
# shellcheck disable=SC2218 # tests have their own functions of one name
# Tests of --tune.
cat > scale.cl <<'END'
#ifndef BLOCK
#define BLOCK 1
#endif
kernel __attribute__((reqd_work_group_size(16, 1, 1))) void
scale(global float* a, global const float* b, float f, int n) {
  for (int i = 0; i < BLOCK; ++i) {
    const size_t at = get_global_id(0) * BLOCK + i;
    if (at < (size_t)n) {
      a[at] = f * b[at];
#ifdef WRONG
      a[at] += 1;
#endif
    }
  }
#ifdef CRASH
  *(volatile global int*)(size_t)n = 1;
#endif
#ifdef HANG
  while (a[0] == ((volatile global float*)a)[0]) {
  }
#endif
}
kernel void count(global uint* total, local uint* sum) {
  if (get_local_id(0) == 0) {
    *sum = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(sum, 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    atomic_add(total, *sum);
  }
}
END
scale='scale[1024]=ceil(ceil(n/(BLOCK?1))/local0)*local0:zero(f32,n),random(f32,n),f=2.5,n=1000'
# Prints the results of a document, sorted, and without its times.
results() {
  python3 -c '
import json, sys
lines = set()
for device in json.load(sys.stdin)["devices"]:
    for launch in device["launches"]:
        for one in launch["results"]:
            is_timed = one["rounds"] > 0 and one["median_ns"] > 0
            lines.add("{} {} {}: {}, {}, {}{}".format(
                launch["kernel"], launch["class"], one["variant"], one["origin"] or "not loaded",
                one["outcome"], "timed" if is_timed else "not timed", one["reason"] and ", " + one["reason"]))
print("\n".join(sorted(lines)))'
}

### bad_words
# No driver is needed to say that the words are wrong.
export OCL_ICD_VENDORS=/no/such
tune() { oclcc --tune "$@"; echo "exit $?"; }
make_bundle sample s.clbin
tune s.clbin
tune --launch 'k=1'
tune --launch 'k=1' s.clbin t.clbin
tune --launch 'k=1' absent.clbin
tune --launch 'k=1' scale.cl
tune --launch 'k=1' --tolerance 2 s.clbin
tune --launch 'k=1' --tolerance x s.clbin
tune --launch 'k=1' --tune-seconds 0 s.clbin
tune --launch 'k=1/2' s.clbin
tune --launch 'k=4:random(f32)' s.clbin
tune --launch 'k=4:stored(f32,4)' s.clbin
tune --launch 'none=4' s.clbin
tune --launch 'none/k=4' s.clbin
tune --launch absent.json s.clbin
echo '{"launches": [{"kernel": "k", "global": ["4 4"]}]}' > l.json
tune --launch l.json s.clbin
oclcc --launch 'k=1' s.clbin; echo "exit $?"
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 3
#| exit 4
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 3
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: '--tune' needs '--launch', or a bundle that '--record --record-data' has written
#| oclcc: error: '--tune' needs a bundle
#| oclcc: error: '--tune' accepts one bundle, not 2
#| oclcc: error: cannot open 'absent.clbin': No such file or directory
#| oclcc: error: scale.cl: not a bundle: it starts with 23 69 66 6e 64 65 66 20
#| oclcc: note: 'scale.cl' looks like OpenCL source: compile it first: oclcc scale.cl
#| oclcc: error: '--tolerance' requires a number from 0 to 1, such as 1e-3, not '2'
#| oclcc: error: '--tolerance' requires a number from 0 to 1, such as 1e-3, not 'x'
#| oclcc: error: '--tune-seconds' requires a number from 1 to 86400, not '0'
#| oclcc: error: --launch 'k=1/2': no program is known to have a kernel 'k'; there are 'matmul', 'reduce'
#| oclcc: error: --launch 'k=4:random(f32)': argument 'random(f32)': 'random' has a type, a number of elements, and maybe a seed
#| oclcc: error: --launch 'k=4:stored(f32,4)': argument 'stored(f32,4)': '(f32,4)' follows an expression
#| oclcc: error: --launch 'none=4': no program is known to have a kernel 'none'; there are 'matmul', 'reduce'
#| oclcc: error: --launch 'none/k=4': there is no program 'none'; there are 'matmul', 'reduce'
#| oclcc: error: cannot open 'absent.json': No such file or directory
#| oclcc: error: l.json: launch 0: 'global': '4' follows an expression
#| oclcc: error: '--launch' needs '--tune'

### bad_launches
# A launch that does not fit its kernel starts no driver.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
oclcc scale.cl --variant default= --variant four=-DBLOCK=4 -o scale.clbin
tune() { OCL_ICD_VENDORS=/no/such oclcc --tune scale.clbin --launch "$1"; echo "exit $?"; }
tune 'scale=1024'
tune 'scale=1024:zero(f32,4),random(f32,4),2.5,4,5'
tune 'scale=1024:zero(f32,4),random(f32,4),2.5,m=4'
tune 'scale=1024:zero(f32,4),zero(i32,4),2.5,4'
tune 'scale=1024:1,zero(f32,4),2.5,4'
tune 'count=1024:zero(u32,1),zero(u32,1)'
tune 'other=1024'
# These depend on the variant and its kernel.
tune() { oclcc --tune scale.clbin --launch "$1"; echo "exit $?"; }
tune 'scale=1024:zero(f32,4),zero(f32,4),2.5,n=1.5'
tune 'scale=n/BLOCK:zero(f32,4),zero(f32,4),2.5,n=4'
tune 'scale=n/3:zero(f32,4),zero(f32,4),2.5,n=4'
tune 'scale=1024,8:zero(f32,4),zero(f32,4),2.5,n=4'
tune 'scale=1024:zero(f32,268435456),zero(f32,4),2.5,n=4'
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: --launch 'scale=1024': argument 0 'a' of kernel 'scale' is missing
#| oclcc: error: --launch 'scale=1024:zero(f32,4),random(f32,4),2.5...': kernel 'scale' has 4 arguments, not 5
#| oclcc: error: --launch 'scale=1024:zero(f32,4),random(f32,4),2.5...': kernel 'scale' has no argument 'm'
#| oclcc: error: --launch 'scale=1024:zero(f32,4),zero(i32,4),2.5,4': argument 1 'b' of kernel 'scale': it is a 'float*', not a buffer of i32
#| oclcc: error: --launch 'scale=1024:1,zero(f32,4),2.5,4': argument 0 'a' of kernel 'scale': it is a pointer (float*), not a number
#| oclcc: error: --launch 'count=1024:zero(u32,1),zero(u32,1)': argument 1 'sum' of kernel 'count': it is local memory (uint*), not a buffer
#| oclcc: error: --launch 'other=1024': program 'scale' has no kernel 'other'
#| oclcc: error: --launch 'scale=1024:zero(f32,4),zero(f32,4),2.5,n...', variant 'default': argument 3 'n': '1.5' is not a number of type i32
#| oclcc: error: --launch 'scale=n/BLOCK:zero(f32,4),zero(f32,4),2....', variant 'default': 'n/BLOCK': 'BLOCK' has no value, and no default such as BLOCK?16
#| oclcc: error: --launch 'scale=n/3:zero(f32,4),zero(f32,4),2.5,n=...', variant 'default': 'n/3' is 4/3, which is not a whole number
#| oclcc: error: --launch 'scale=1024,8:zero(f32,4),zero(f32,4),2.5...', variant 'default': kernel 'scale' requires work-groups of 16x1x1, not of 8x1x1
#| oclcc: error: --launch 'scale=1024:zero(f32,268435456),zero(f32,...', variant 'default': its buffers have more than 1024 MiB

### every_device
# On each device, two variants are measured, and a wrong one is refused.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
oclcc scale.cl --variant default= --variant four=-DBLOCK=4 --variant wrong=-DWRONG -o scale.clbin
tune_on() {
  oclcc --tune scale.clbin --device "$1" --launch "$scale" --json > "$1.json" || echo "exit $?"
  python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/tune.schema.json" < "$1.json"
  results < "$1.json"
}
on_each_device tune_on > all
sort -u all
# Several sizes of work-groups count the same. The table has a line for each.
on_each_device oclcc --tune scale.clbin --launch 'count=64:zero(u32,1),local(4)' --device > tables
grep -c "kernel 'count', 64 work-items, by the clock of the" tables > count
[ "$(cat count)" = "$device_count" ] || cat tables
grep refused tables
grep -q '    default  -  ' tables || cat tables
grep -q '    four     16  ' tables || cat tables
# The driver's choice has no local0: only the others are measured.
for_groups='count=64:zero(u32,1),local(4*local0)'
on_each_device oclcc --tune scale.clbin --launch "$for_groups" --device > tables
grep refused tables
grep '    default  -  ' tables
grep -q '    default  16  ' tables || cat tables
# expected output:
#| fits the schema
#| scale [1024] default: entry, measured, timed
#| scale [1024] four: entry, measured, timed
#| scale [1024] wrong: entry, wrong_result, not timed, the result differs from that of variant 'default': argument 0, element 0 is 2.4779741764068604, not 1.4779741764068604 (tolerance 0.0001)

### chosen_variants
# --variant NAME measures one of the variants, with those that other words add to it, and nothing is added
# to others.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
oclcc scale.cl --variant default= --variant two=-DBLOCK=2 -q -o s.clbin
tune() { oclcc --tune s.clbin --device 0:0 --launch "$scale" --json "$@" | results; }
tune --variant two --variant M=-DM
oclcc --info --json s.clbin | grep '"variant"' | sort
echo "alone:"
tune --variant two+M
echo "all:"
tune | grep -v -e '+M'
oclcc --tune s.clbin --launch "$scale" --variant two --variant three
# expected exit status: 2
# expected output:
#| scale [1024] two+M: source, measured, timed
#| scale [1024] two: entry, measured, timed
#|           "variant": "default"
#|           "variant": "two"
#|           "variant": "two+M"
#| alone:
#| scale [1024] two+M: source, measured, timed
#| all:
#| scale [1024] default: entry, measured, timed
#| scale [1024] two: entry, measured, timed
# expected errors:
#| oclcc: error: s.clbin: there is no variant 'three'; there are 'default', 'two', 'two+M'

### faults
# A driver that crashes while it loads a variant, or fails to launch it, costs this variant.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
[ -n "$FAULT_LAYER" ] || { echo "there is no fault layer"; exit 77; }
oclcc scale.cl --variant a=-DBLOCK=2 --variant b=-DBLOCK=4 -o scale.clbin
export CLBIN_FAULTS=$PWD/scenario
tune_on() {
  OPENCL_LAYERS=$FAULT_LAYER oclcc --tune scale.clbin --device "$1" --launch "$scale" \
    --timeout 20 -o out.clbin --json | results | sed "s/driver of '.*'/driver of '...'/"
}
for fault in 'crash at=clBuildProgram call=2' \
  'fail at=clEnqueueNDRangeKernel code=CL_OUT_OF_RESOURCES call=3'; do
  echo "$fault" > scenario
  echo "$fault:"
  on_each_device tune_on > all
  sort -u all
done
# A driver that hangs.
show_platforms 1
echo 'hang at=clBuildProgram call=2' | tee scenario
OPENCL_LAYERS=$FAULT_LAYER oclcc --tune scale.clbin --launch "$scale" --timeout 3 -o out.clbin --json \
  | results | sed "s/driver of '.*'/driver of '...'/"
# Every variant is refused.
echo 'fail at=clEnqueueNDRangeKernel code=CL_OUT_OF_RESOURCES' > scenario
OPENCL_LAYERS=$FAULT_LAYER oclcc --tune scale.clbin --launch "$scale" -o out.clbin | grep -c 'refused: clEnqueueND'
echo "exit ${PIPESTATUS[0]}"
# expected output:
#| crash at=clBuildProgram call=2:
#| scale [1024] a: entry, measured, timed
#| scale [1024] b: not loaded, crashed, not timed, the driver of '...' crashed (signal 11)
#| fail at=clEnqueueNDRangeKernel code=CL_OUT_OF_RESOURCES call=3:
#| scale [1024] a: entry, measured, timed
#| scale [1024] b: entry, failed, not timed, clEnqueueNDRangeKernel failed: CL_OUT_OF_RESOURCES (-5)
#| hang at=clBuildProgram call=2
#| scale [1024] a: entry, measured, timed
#| scale [1024] b: not loaded, timed_out, not timed, the driver of '...' did not finish within 3 s
#| 2
#| exit 1

### dangerous_kernels
# A launch that crashes or hangs costs its variant. They run where the driver is in the process.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
see_only 'Portable Computing'
oclcc scale.cl --variant default= --variant crash=-DCRASH --variant hang=-DHANG -o scale.clbin
oclcc --tune scale.clbin --launch "$scale" --timeout 3 --json | results \
  | sed "s/driver of '.*'/driver of '...'/"
# expected output:
#| scale [1024] crash: entry, crashed, not timed, the driver of '...' crashed (signal 11)
#| scale [1024] default: entry, measured, timed
#| scale [1024] hang: entry, timed_out, not timed, the driver of '...' did not finish within 3 s

### sources
# Variants without an entry for the device are built from source, with the kernels of the source.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
oclcc scale.cl --source-only --variant default= --variant four=-DBLOCK=4 -o scale.clbin
oclcc --tune scale.clbin --launch "$scale" --json | results
oclcc --tune scale.clbin --launch 'other=16' | grep -c "refused: the variant has no kernel 'other'"
echo 'kernel void scale(global float* a) { a[0] = 1; }' > other.cl
oclcc scale.cl other.cl -o two.clbin
oclcc --tune two.clbin --launch 'scale=16:zero(f32,1)'
oclcc --tune two.clbin --launch 'other/scale=16,16:zero(f32,1)' --json | results
# expected output:
#| scale [1024] default: source, measured, timed
#| scale [1024] four: source, measured, timed
#| 2
#| scale [16] default: entry, measured, timed
# expected errors:
#| oclcc: error: --launch 'scale=16:zero(f32,1)': several programs have a kernel 'scale': write 'other/scale='

### removed_source
# What is measured after the source was removed belongs to the source of the earlier measurements.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
oclcc scale.cl --variant default= --variant block=-DBLOCK=4 -o scale.clbin
oclcc --tune scale.clbin --launch "$scale" > first
oclcc --strip --strip-source scale.clbin -o plain.clbin
oclcc --tune plain.clbin --launch "${scale/1024/2048}" > second && echo measured
oclcc --info --json plain.clbin | grep -o '"source": "[0-9a-f]\{64\}"' | sort | uniq -c | awk '{ print $1 }'
# expected output:
#| measured
#| 4

### seconds
# The time ends before anything is measured, or nothing is to do.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
[ -n "$FAULT_LAYER" ] || { echo "there is no fault layer"; exit 77; }
oclcc scale.cl --variant a=-DBLOCK=2 --variant b=-DBLOCK=4 -o scale.clbin
export OPENCL_LAYERS=$FAULT_LAYER CLBIN_FAULTS=$PWD/scenario
echo 'hang at=clBuildProgram call=2' > scenario
oclcc --tune scale.clbin --launch "$scale" --timeout 2 --tune-seconds 1 > table; echo "exit $?"
grep -c 'a .*not measured: out of time' table
# expected output:
#| exit 1
#| 1
# expected errors:
#| oclcc: warning: '--tune-seconds 1' ended before every variant was measured

### encrypted
make_bundle sample s.clbin
oclcc --keygen k --key-type content
oclcc --encrypt --encrypt-key k.key s.clbin
oclcc --tune s.clbin --launch 'k=1'
# expected exit status: 2
# expected errors:
#| oclcc: error: 's.clbin' is encrypted, and '--tune' measures plain bundles only

### results
# The bundle has the results, which a second run does not measure again, and a load takes the fastest.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
cat > slow.cl <<'END'
kernel __attribute__((reqd_work_group_size(16, 1, 1))) void k(global int* a) {
  int sum = 0;
  for (volatile int i = 0; i < TIMES; ++i) {
    sum += i < 1;
  }
  a[get_global_id(0)] = sum;
}
END
oclcc slow.cl --variant default=-DTIMES=20000 --variant fast=-DTIMES=10 -o slow.clbin
cp slow.clbin before.clbin
tune() { oclcc --tune slow.clbin --launch 'k=16:zero(i32,16)' "$@" --json > json; }
measured_before() { python3 -c '
import json
for launch in json.load(open("json"))["devices"][0]["launches"]:
    print(sorted((one["variant"], one["measured_before"]) for one in launch["results"]))'; }
tune
measured_before
oclcc --verify slow.clbin
cp slow.clbin first.clbin
tune
measured_before
cmp slow.clbin first.clbin
tune --no-cache
measured_before
# A launch of another size is another class.
oclcc --tune slow.clbin --launch 'k=32:zero(i32,32)' -o other.clbin --json > json
measured_before
cmp slow.clbin other.clbin > unequal || echo "another bundle"
oclcc --tune before.clbin --launch 'k=16:zero(i32,16)' -o - > unequal || echo "exit $?"
oclcc --tune - --launch 'k=16:zero(i32,16)' < before.clbin > unequal || echo "exit $?"
oclcc --tune - --launch 'k=16:zero(i32,16)' -o piped.clbin --json < before.clbin > json
measured_before
# expected output:
#| [('default', False), ('fast', False)]
#| [('default', True), ('fast', True)]
#| [('default', False), ('fast', False)]
#| [('default', False), ('fast', False)]
#| another bundle
#| exit 2
#| exit 2
#| [('default', False), ('fast', False)]
# expected errors:
#| oclcc: error: '--tune' prints its results, and '-o -' would write to standard output, too
#| oclcc: error: '--tune' cannot replace standard input: name an output with '-o'

### prune
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
oclcc scale.cl --variants 'BLOCK=1,2,4 if BLOCK<4' --device 0:0 -q -o s.clbin
oclcc --tune s.clbin --device 0:0 --launch "$scale" > /dev/null; echo "exit $?"
oclcc --info s.clbin | grep -c '^program'
oclcc --strip --prune s.clbin -o best.clbin 2> told; grep -Ec "variant 'BLOCK[12]' is nowhere the best and was removed" told
oclcc --info best.clbin | grep -c '^program'
oclcc --verify -q best.clbin
oclcc --strip --prune best.clbin -q -o again.clbin 2> /dev/null
cmp best.clbin again.clbin
# expected output:
#| exit 0
#| 2
#| 1
#| 1

### replaced
# A bundle that another process has changed meanwhile is not replaced. Nor is one that cannot be written.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
oclcc scale.cl --variant a=-DBLOCK=2 -o scale.clbin
oclcc --tune scale.clbin --launch "$scale" -o no/such/folder.clbin > table || echo "exit $?"
cp scale.clbin other.clbin
[ -n "$FAULT_LAYER" ] || { echo "there is no fault layer"; exit 77; }
export CLBIN_FAULTS=$PWD/scenario
echo 'hang at=clEnqueueNDRangeKernel' > scenario
OPENCL_LAYERS=$FAULT_LAYER oclcc --tune scale.clbin --launch "$scale" --timeout 4 > table &
sleep 2
newer other.clbin scale.clbin
mv other.clbin scale.clbin
wait $! || echo "exit $?"
ls
# expected output:
#| exit 3
#| exit 3
#| scale.cl
#| scale.clbin
#| scenario
#| table
# expected errors:
#| oclcc: error: cannot write 'no/such/folder.clbin': No such file or directory
#| oclcc: error: cannot replace 'scale.clbin': another process has changed it since it was read

### killed
# A run that is killed at any moment keeps the results of the launches before, and the next one goes on
# behind them.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
see_only 'Portable Computing' # whose launches are short
oclcc scale.cl --variant a=-DBLOCK=2 --variant b=-DBLOCK=4 -o scale.clbin
cp scale.clbin before.clbin
words=(--tune scale.clbin --device 0:0)
for class in 64 65 66 67 68 69 70 71; do
  words+=(--launch "scale[$class]=128/BLOCK:zero(f32,64),random(f32,64),2,64")
done
kept() { oclcc --info --json "$1" | grep -c '"median_ns"'; } # two of each launch
seed=$RANDOM
RANDOM=$seed
fail() { echo "seed $seed, kill $kill: $*"; }
start=$(date +%s%N)
oclcc "${words[@]}" -o full.clbin > table
span=$((($(date +%s%N) - start) / 1000000))
[ "$(kept full.clbin)" = 16 ] || cat table
restarts=0 most=0
for ((kill = 1; kill <= 20; kill++)); do
  moment=$((RANDOM % span))
  oclcc "${words[@]}" > table &
  sleep "$((moment / 1000)).$(printf %03d $((moment % 1000)))"
  { kill -KILL $! && wait $!; } 2> /dev/null # together: bash tells of the death
  oclcc --verify -q scale.clbin || fail "the bundle is damaged after $moment of $span ms"
  now=$(kept scale.clbin)
  [ $((now)) -ge "$most" ] || fail "$now of $most results are left"
  # The table of a launch precedes its results: at most one is not in the bundle.
  [ $((now / 2)) -ge $(($(grep -c "^  program" table) - 1)) ] || fail "$now results" "$(cat table)"
  [ $((now % 2)) = 0 ] || fail "$now results"
  most=$now
  if [ "$most" = 16 ]; then # from the start
    cp before.clbin scale.clbin
    restarts=$((restarts + 1)) most=0
  fi
done
[ $((most + restarts)) -gt 0 ] || fail "none was kept"
oclcc "${words[@]}" > table; echo "exit $?"
kept scale.clbin
ls
# expected output:
#| exit 0
#| 16
#| before.clbin
#| full.clbin
#| scale.cl
#| scale.clbin
#| table

### killed_within_a_launch
# The rounds of a launch are kept in the compile cache: what the killed run has found is known to the next
# one, unless it must not use the cache.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
[ -n "$FAULT_LAYER" ] || { echo "there is no fault layer"; exit 77; }
see_only 'Portable Computing'
oclcc scale.cl --variant a=-DBLOCK=2 --variant b=-DBLOCK=4 -o scale.clbin
words=(--tune scale.clbin --device 0:0 --launch "$scale")
export CLBIN_FAULTS=$PWD/scenario
# Variant a is launched twice, then b fails. The driver hangs in a later round.
printf '%s\n' 'fail at=clEnqueueNDRangeKernel code=CL_OUT_OF_RESOURCES call=3' \
  'hang at=clEnqueueNDRangeKernel call=30' > scenario
rounds() { find "$XDG_CACHE_HOME" -name '*.prepared' -newer scale.clbin; }
OPENCL_LAYERS=$FAULT_LAYER oclcc "${words[@]}" > table &
for ((wait = 0; wait < 600; wait++)); do
  [ -z "$(rounds)" ] || break
  sleep 0.1
done
{ kill -KILL $! && wait $!; } 2> /dev/null
cat table
oclcc "${words[@]}" --no-cache -o fresh.clbin --json | results
oclcc "${words[@]}" --json | results
oclcc "${words[@]}" -o again.clbin --json | results # the bundle has the results
oclcc --strip scale.clbin --strip-measurements -o scale.clbin
oclcc "${words[@]}" --json | results # and the cache no longer has them
# expected output:
#| scale [1024] a: entry, measured, timed
#| scale [1024] b: entry, measured, timed
#| scale [1024] a: entry, measured, timed
#| scale [1024] b: entry, failed, not timed, clEnqueueNDRangeKernel failed: CL_OUT_OF_RESOURCES (-5)
#| scale [1024] a: entry, measured, timed
#| scale [1024] b: entry, failed, not timed, clEnqueueNDRangeKernel failed: CL_OUT_OF_RESOURCES (-5)
#| scale [1024] a: entry, measured, timed
#| scale [1024] b: entry, measured, timed

### full_disk
# The bundle is as before, the table is printed, and the next run measures what is missing.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
unshare -rm true 2> /dev/null || { echo "this machine forbids mount namespaces"; exit 77; }
mkdir small
oclcc scale.cl --variant a=-DBLOCK=2 --variant b=-DBLOCK=4 --device 0:0 -o scale.clbin
export scale
# shellcheck disable=SC2016 # the inner shell expands it
unshare -rm bash -c '
  mount -t tmpfs -o size=1m none small || { echo "cannot mount a tmpfs"; exit 77; }
  cp scale.clbin small
  cat /dev/zero > small/filler 2> /dev/null
  oclcc --tune small/scale.clbin --device 0:0 --launch "$scale" > table; echo "exit $?"
  grep -c "^    [ab] .* [1-9][0-9]*$" table
  cmp small/scale.clbin scale.clbin
  ls -A small
  rm small/filler
  oclcc --tune small/scale.clbin --device 0:0 --launch "$scale" > table; echo "exit $?"
  oclcc --verify -q small/scale.clbin
  oclcc --info --json small/scale.clbin | grep -c median_ns
  ls -A small'
# expected output:
#| exit 3
#| 2
#| filler
#| scale.clbin
#| exit 0
#| 2
#| scale.clbin
# expected errors:
#| oclcc: error: cannot write 'small/scale.clbin': No space left on device

### device_that_is_no_longer_installed
# What was measured on it stays, and the others are measured.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" two_platforms
drivers=("$OCL_ICD_VENDORS"/*.icd)
[ ${#drivers[@]} = 2 ] || { echo "there is one platform"; exit 77; }
oclcc scale.cl --variant a=-DBLOCK=2 --variant b=-DBLOCK=4 --source-only -o scale.clbin
tune() { oclcc --tune scale.clbin --launch "$scale" "$@" > table; echo "exit $?"; }
devices_in() { oclcc --info -v scale.clbin | grep '^  measured' | sort -u | wc -l; }
OCL_ICD_VENDORS=${drivers[0]} tune
first=$(devices_in)
cp scale.clbin first.clbin
OCL_ICD_VENDORS=/no/such tune
OCL_ICD_VENDORS=${drivers[1]} tune --device 9:9
cmp scale.clbin first.clbin
OCL_ICD_VENDORS=${drivers[1]} tune
[ "$(devices_in)" -gt "$first" ] || oclcc --info -v scale.clbin
oclcc --verify -q scale.clbin
# What was measured is not measured again when the device is back.
cp scale.clbin second.clbin
tune
cmp scale.clbin second.clbin
# expected output:
#| exit 0
#| exit 5
#| exit 5
#| exit 0
#| exit 0
# expected errors:
#| oclcc: error: *
#| oclcc: error: no device matches '9:9'; there are *

### device_that_disappears
# Neither the variants nor the launches before are to blame. The next run goes on.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
[ -n "$FAULT_LAYER" ] || { echo "there is no fault layer"; exit 77; }
oclcc scale.cl --variant a=-DBLOCK=2 --variant b=-DBLOCK=4 --device 0:0 -o scale.clbin
tune() { oclcc --tune scale.clbin --device 0:0 --launch "$scale" "$@" > table; echo "exit $?"; }
tune
cp scale.clbin before.clbin
export CLBIN_FAULTS=$PWD/scenario
for fault in 'clEnqueueNDRangeKernel code=CL_DEVICE_NOT_AVAILABLE call=9-' \
  'clCreateContext code=CL_DEVICE_NOT_AVAILABLE'; do
  echo "fail at=$fault" > scenario
  OPENCL_LAYERS=$FAULT_LAYER tune --launch 'count=64,16:zero(u32,1),local(4)'
  grep -c "refused" table
  cmp scale.clbin before.clbin
done
tune --launch 'count=64,16:zero(u32,1),local(4)'
grep -c "^    [ab] .* [1-9][0-9]*$" table
# expected output:
#| exit 0
#| exit 5
#| 0
#| exit 5
#| 0
#| exit 0
#| 4
# expected errors:
#| oclcc: error: '*' is no longer available: clEnqueueNDRangeKernel failed: CL_DEVICE_NOT_AVAILABLE (-2)
#| oclcc: error: '*' is no longer available: clCreateContext failed: CL_DEVICE_NOT_AVAILABLE (-2)

### recorded
# Without --launch, the recorded launches run with their data, and a variant that computes something
# else than the application did is refused; other programs of the application are left alone.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
cat > add.cl <<'END'
kernel void add(global float* a, global const float* b, float by) {
  a[get_global_id(0)] += by * b[get_global_id(0)] + N - 1;
}
END
make_bundle recording add.cl add default -DN=1 add cpu '' one.clbin
make_bundle recording add.cl add other -DN=3 add cpu '' other.clbin
make_bundle data add default -DN=1 add 2 '' data.clbin
oclcc --merge one.clbin other.clbin data.clbin -o app.clbin
oclcc --tune app.clbin --variant fast=-cl-fast-relaxed-math --variant wrong=-DN=2 --json > times.json; echo "exit $?"
results < times.json
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/tune.schema.json" < times.json
oclcc --tune app.clbin | grep -cE '^    default .* [1-9]' # what was measured, and is still there
oclcc --verify app.clbin
oclcc --strip --prune app.clbin -o pruned.clbin 2> /dev/null
oclcc --info pruned.clbin | grep '^  data'
# expected output:
#| exit 0
#| add [16] default+fast: source, measured, timed
#| add [16] default+wrong: source, failed, not timed, the result differs from the recorded one: argument 0, element 0 is 3, not 2 (tolerance 0.0001)
#| add [16] default+wrong: source, wrong_result, not timed, the result differs from the recorded one: argument 0, element 0 is 3, not 2 (tolerance 0.0001)
#| add [16] default: source, measured, timed
#| fits the schema
#| 2
#|   data      1 launch of an application with 192 bytes of its data; '--strip-data' removes them

### recorded_answers
# A recorded launch is a known answer, also of other variants if that is asked for, and finds a
# binary that computes something else.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void add(global float* a, global const float* b, float by) {
  a[get_global_id(0)] += by * b[get_global_id(0)] + N;
}' > add.cl
oclcc add.cl --variant default=-DN=0 --variant same='-DN=0 -DM' -o right.clbin
make_bundle data add default -DN=0 add 2 '' data.clbin
oclcc --merge right.clbin data.clbin -o app.clbin
oclcc --verify --run -v app.clbin 2>&1 | grep -oE "variant '.*', entry|loads.*" | sort -u
oclcc --tune --known-answers app.clbin > /dev/null; echo "exit $?"
oclcc --verify --run -v app.clbin 2>&1 | grep -oE "loads, .*" | sort -u
oclcc --info app.clbin | grep '^  data'
mkdir wrong
sed 's/+ N/+ 1/' add.cl > wrong/add.cl # of another source, which is not in the bundle
oclcc wrong/add.cl --variant default=-DN=0 --no-source -o wrong.clbin
oclcc --merge data.clbin wrong.clbin -o mixed.clbin
oclcc --verify --run mixed.clbin; echo "exit $?"
# expected output:
#| loads
#| loads, and gives 1 known answer
#| variant 'default', entry
#| variant 'same', entry
#| exit 0
#| loads, and gives 1 known answer
#|   data      2 launches of an application with 192 bytes of its data; '--strip-data' removes them
#| exit 1
# expected errors:
#| oclcc: error: mixed.clbin: program 'add', variant 'default', entry for * on '*': kernel 'add' with 16 work-items computes a wrong result: argument 0, element 0 is 3, not 2 (tolerance 0.0001)

### recorded_bad_input
# One clear line for each: a launch that does not fit the kernel, and a bundle without a launch.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
tune() { oclcc --tune "$@" > /dev/null; echo "exit $?"; }
add() { # ARGUMENTS and the argument that is recorded as a number
  echo "kernel void add($1) { a[get_global_id(0)] = 1; }" > add.cl
  oclcc add.cl -o add.clbin
  make_bundle data add default '' add 2 "$2" data.clbin
  oclcc --merge add.clbin data.clbin -o app.clbin
  tune app.clbin
}
add 'global float* a, global const float* b' ''
add 'global float* a, global const float* b, global float* c' ''
add 'global float* a, global const float* b, double by' ''
add 'global float* a, global const float* b, float by' 1
tune add.clbin
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: recorded launch 'add with 16 work-items': kernel 'add' has 2 arguments, not 3
#| oclcc: error: recorded launch 'add with 16 work-items': argument 2 'c' of kernel 'add': it is a 'float*', and a number was recorded
#| oclcc: error: recorded launch 'add with 16 work-items': argument 2 'by' of kernel 'add': it is a 'double' of 8 bytes, and 4 were recorded
#| oclcc: error: recorded launch 'add with 16 work-items': argument 1 'b' of kernel 'add': it is a 'float*', and a number was recorded
#| oclcc: error: '--tune' needs '--launch', or a bundle that '--record --record-data' has written

### known_answers
# What a launch computes travels with the bundle, and finds a binary that computes something else.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
oclcc scale.cl --variant default= --variant four=-DBLOCK=4 -o scale.clbin
oclcc --tune scale.clbin --known-answers --launch "$scale" --launch 'count=64,16:zero(u32,1),local(4)' \
  -o known.clbin > /dev/null; echo "exit $?"
oclcc --info -v known.clbin | grep -oE "^program.*|answer    .*, by" | uniq
oclcc --info --json known.clbin | python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json"
oclcc --verify --run -v known.clbin 2>&1 | grep -oE "variant '.*', entry|loads, .*" | sort -u
oclcc --strip --strip-answers --strip-measurements known.clbin -o stripped.clbin
oclcc --merge scale.clbin -o copy.clbin
cmp stripped.clbin copy.clbin
# The binaries of another source, which is not in the bundle.
mkdir wrong
{ echo '#define WRONG'; cat scale.cl; } > wrong/scale.cl
oclcc wrong/scale.cl --variant default= --variant four=-DBLOCK=4 --no-source -o wrong.clbin
oclcc --strip --drop-target '*' known.clbin -o answers.clbin
oclcc --merge answers.clbin wrong.clbin -o mixed.clbin; echo "exit $?"
oclcc --verify mixed.clbin; echo "exit $?"
oclcc --verify --run mixed.clbin; echo "exit $?"
oclcc --verify --run --json mixed.clbin 2> errors > verdict.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < verdict.json
# Nobody knows which of the two is right.
oclcc --tune mixed.clbin --known-answers --launch "$scale" -o disputed.clbin > /dev/null; echo "exit $?"
oclcc --info -v disputed.clbin | grep -oE "answer    .*, by" | uniq
# expected output:
#| exit 0
#| program 'scale', variant 'default'
#| answer    count 64 with 16, by
#| answer    scale 1008 with 16, by
#| program 'scale', variant 'four'
#| answer    count 64 with 16, by
#| answer    scale 256 with 16, by
#| fits the schema
#| loads, and gives 2 known answers
#| variant 'default', entry
#| variant 'four', entry
#| exit 0
#| exit 0
#| exit 1
#| exit 1
#| fits the schema
#| exit 1
#| answer    count 64 with 16, by
# expected errors:
#| oclcc: error: mixed.clbin: program 'scale', variant 'four', entry for * on '*': kernel 'scale' with 256 work-items computes a wrong result: argument 0, element * is *, not * (tolerance 0.0001)
#| oclcc: error: mixed.clbin: program 'scale', variant 'default', entry for * on '*': kernel 'scale' with 1008 work-items computes a wrong result: argument 0, element * is *, not * (tolerance 0.0001)
#| oclcc: error: program 'scale', kernel 'scale': '*' and '*' compute different results, of which none is kept: argument 0, element * is *, not * (tolerance 0.0001)

### known_answers_of_kernels_that_a_device_lacks
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
{ cat scale.cl; printf '%s\n' '#ifndef WITHOUT' 'kernel void more(global int* a) { a[get_global_id(0)] += 1; }' '#endif'; } > both.cl
oclcc both.cl -o both.clbin
oclcc --tune both.clbin --known-answers --launch 'more=64,16:iota(i32,64)' > /dev/null
mkdir without
{ echo '#define WITHOUT'; cat both.cl; } > without/both.cl
oclcc without/both.cl --no-source -o less.clbin
oclcc --strip --drop-target '*' both.clbin -o answers.clbin
oclcc --merge answers.clbin less.clbin -o mixed.clbin
oclcc --verify --run mixed.clbin; echo "exit $?"
oclcc --warm mixed.clbin | grep -o ': .*'
# expected output:
#| exit 0
#| : 1 from the bundle, 0 from the user cache, 0 built
# expected errors:
#| oclcc: note: mixed.clbin: program 'both', variant 'default', entry for * on '*': a known answer was not checked: the entry has no kernel 'more'

### known_answers_of_miscompiled_kernels
# 20 binaries in which an instruction, a constant or a result is another one. All are found, and a load
# that checks builds the source instead.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
mkdir wrong
number=0 launches=()
while IFS='@' read -r right wrong; do
  number=$((number + 1))
  for each in "$right@f$number.cl" "$wrong@wrong/f$number.cl"; do
    echo "kernel void f$number(global int* o, global float* p, global const int* a, global const float* b) {
      size_t i = get_global_id(0); int x = a[i] - 50; float r = b[i]; int y = x; float s = r;
      local float shared[16]; shared[get_local_id(0)] = r; barrier(CLK_LOCAL_MEM_FENCE);
      ${each%@*}; o[i] = y; p[i] = s; }" > "${each#*@}"
  done
  launches+=(--launch "f$number=64,16:zero(i32,64),zero(f32,64),random(i32,64),random(f32,64)")
done << 'END'
y = x + 1@y = x + 2
y = x * 3@y = x * 3 - (x > 40)
y = x >> 1@y = (int)((uint)x >> 1)
y = x / 4@y = x >> 2
y = x % 7@y = x & 7
y = rotate(x, 13)@y = rotate(x, 12)
y = x < 0 ? -x : x@y = x
y = max(x, 0)@y = min(x, 0)
y = x <= 3@y = x < 3
y = convert_int_rtz(r * 10)@y = convert_int_rte(r * 10)
for (int j = 0; j < 9; ++j) y += x * j@for (int j = 0; j < 8; ++j) y += x * j
y = popcount(x)@y = popcount(x & 0x7fffffff)
s = r * 2@s = r * 2.002f
s = sqrt(r)@s = r * 0.5f + 0.5f
s = fma(r, 3.0f, 1.0f)@s = fma(r, 3.0f, 1.001f)
s = shared[15 - get_local_id(0)]@s = shared[get_local_id(0)]
for (int j = 0; j < 16; ++j) s += shared[j]@for (int j = 1; j < 16; ++j) s += shared[j]
s = r > 0.5f ? 1 / r : 0@s = r > 0.5f ? 1 / r : 1e-3f
s = i == 63 ? 5 : r@s = r
s = (float)i@s = i == 40 ? NAN : (float)i
END
(cd wrong && oclcc f*.cl --no-source -o ../wrong.clbin)
oclcc f*.cl -o right.clbin
oclcc --tune right.clbin --known-answers "${launches[@]}" > /dev/null; echo "exit $?"
oclcc --verify --run right.clbin; echo "exit $?"
oclcc --strip --drop-target '*' right.clbin -o answers.clbin
oclcc --merge answers.clbin wrong.clbin -o mixed.clbin
oclcc --verify --run mixed.clbin 2>&1 | grep -c 'computes a wrong result'
oclcc --warm right.clbin | grep -o ': .*'
oclcc --warm mixed.clbin | grep -o ': .*'
# expected output:
#| exit 0
#| exit 0
#| 20
#| : 20 from the bundle, 0 from the user cache, 0 built
#| : 0 from the bundle, 0 from the user cache, 20 built

### known_answers_on_faulty_drivers
# An entry that crashes the driver or fails is at fault. One that the driver does not start is not checked.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
[ -n "$FAULT_LAYER" ] || { echo "there is no fault layer"; exit 77; }
oclcc scale.cl -o scale.clbin
oclcc --tune scale.clbin --known-answers --launch "$scale" > /dev/null; echo "exit $?"
export OPENCL_LAYERS=$FAULT_LAYER CLBIN_FAULTS=$PWD/scenario
echo 'crash at=clEnqueueNDRangeKernel' > scenario
oclcc --verify --run scale.clbin; echo "exit $?"
for call in clCreateKernel clEnqueueNDRangeKernel; do
  echo "fail at=$call code=CL_OUT_OF_RESOURCES" > scenario
  oclcc --verify --run scale.clbin; echo "exit $?"
done
# A program from source whose check ends the process is not checked a third time.
oclcc --strip --drop-target '*' scale.clbin -o source.clbin
echo 'crash at=clEnqueueNDRangeKernel' > scenario
for _ in 1 2 3; do
  oclcc --warm source.clbin 2>&1 | grep -oE 'crashed|are in quarantine: it ended the process twice'
done
# expected output:
#| exit 0
#| exit 1
#| exit 1
#| exit 0
#| crashed
#| crashed
#| are in quarantine: it ended the process twice
# expected errors:
#| oclcc: error: scale.clbin: program 'scale', variant 'default', entry for * on '*': kernel 'scale' with 1008 work-items: * crashed (signal 11)
#| oclcc: error: scale.clbin: program 'scale', variant 'default', entry for * on '*': kernel 'scale' with 1008 work-items: clCreateKernel failed: CL_OUT_OF_RESOURCES (-5)
#| oclcc: note: scale.clbin: program 'scale', variant 'default', entry for * on '*': a known answer was not checked: kernel 'scale' with 1008 work-items: clEnqueueNDRangeKernel failed: CL_OUT_OF_RESOURCES (-5)

### packs
# The known answers of a base are checked of the binaries in its packs.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { a[get_global_id(0)] += 1; }' > k.cl
oclcc -q k.cl -o k.clbin
oclcc -q --tune k.clbin --known-answers --launch 'k=64:random(i32,64)' > /dev/null
oclcc --split=entry k.clbin -o d
oclcc -v --verify --run d 2>&1 | grep -c "loads, and gives 1 known answer" | grep -x "$device_count" > right ||
  oclcc -v --verify --run d
echo 'kernel void k(global int* a) { a[get_global_id(0)] += 2; }' > k.cl
oclcc -q k.cl -o wrong.clbin
oclcc --strip --strip-source wrong.clbin
oclcc --strip --drop-target '*' k.clbin
oclcc --merge k.clbin wrong.clbin -o mixed.clbin
oclcc --split=entry mixed.clbin -o e
oclcc --verify --run e > /dev/null 2> errors; echo "exit $?"
grep -c "computes" errors | grep -x "$device_count" > wrong || cat errors
# Another input that is not a bundle does not hide them, and damage in a pack does.
oclcc --verify --run k.cl e > /dev/null 2> errors; echo "exit $?"
grep -c "computes" errors | grep -x "$device_count" > wrong || cat errors
for pack in e/*.clbin; do
  [ "$pack" = e/base.clbin ] || { echo no > "$pack"; break; }
done
oclcc --verify --run e > /dev/null 2> errors; echo "exit $?"
! grep "computes" errors
# expected output:
#| exit 1
#| exit 4
#| exit 4
