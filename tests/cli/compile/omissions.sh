#!/bin/bash
# Programs and variants that some devices cannot build.

### optional
# --optional: a warning for each device on which a program does not compile. The bundle contains its
# source.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" two_platforms
first=${devices%%$'\n'*}
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
cat > opt.cl << 'END'
#ifdef BROKEN
#error not here
#endif
kernel void o(global int* a) { *a = 2; }
END
broken=(--device-option "$first=-DBROKEN")
oclcc k.cl opt.cl "${broken[@]}" -o required.clbin 2> /dev/null; echo "exit $?"
oclcc k.cl opt.cl --optional opt "${broken[@]}" -o both.clbin -MD 2> log; echo "exit $?"
sed "s/ \[on '.*'\]$//" log
cat both.d
[ "$(entries both.clbin)" = $((2 * device_count - 1)) ] || oclcc --info -v both.clbin
oclcc k.cl opt.cl --optional '*' "${broken[@]}" -o all.clbin 2> log; echo "exit $?"
cmp both.clbin all.clbin
oclcc --verify --run -q both.clbin
# The device without an entry builds the source.
oclcc --explain --device "$first" both.clbin | sed -n "/program 'opt'/,\$p" | grep -c -i source
# Failures are not cached.
oclcc -v k.cl opt.cl --optional opt "${broken[@]}" -o again.clbin 2>&1 | grep -c 'opt.cl: compile cache: miss'
cmp both.clbin again.clbin
# Compiling each unit separately makes the same bundle.
oclcc '-###' k.cl opt.cl --optional opt "${broken[@]}" -o units.clbin 2>&1 | tail -n +2 > run.sh
sh -e run.sh 2> /dev/null; echo "exit $?"
cmp both.clbin units.clbin
# No device builds it: the bundle contains only its source.
oclcc opt.cl --optional opt --device-option all=-DBROKEN -o none.clbin 2> log; echo "exit $?"
grep -c warning log
oclcc --info -v none.clbin | grep -v digest | sed 's/, [0-9]* bytes$//'
oclcc --verify none.clbin
oclcc -q --strip --strip-source both.clbin
[ "$(entries both.clbin)" = $((2 * device_count - 1)) ] || oclcc --info -v both.clbin
oclcc -fsyntax-only -Werror opt.cl --optional opt --device-option all=-DBROKEN 2> /dev/null; echo "exit $?"
oclcc --diagnostics-format json opt.cl --optional opt --device-option all=-DBROKEN 2>&1 |
  grep -o '"severity": "[a-z]*"' | sort -u
echo 'kernel void bad() { x; }' > bad.cl
oclcc --keep-going bad.cl opt.cl --optional opt "${broken[@]}" -o going.clbin 2> log; echo "exit $?"
grep -c 'error:' log
oclcc --info -v going.clbin | grep '^program'
oclcc opt.cl --optional k; echo "exit $?"
oclcc opt.cl --optional opt --no-source; echo "exit $?"
oclcc opt.cl --optional opt -o opt.bin; echo "exit $?"
# expected output:
#| exit 1
#| exit 0
#| opt.cl: warning: optional program 'opt' does not compile: it is built from source when it is loaded
#| opt.cl:2:2: note: not here
#|     2 | #error not here
#|       |  ^
#| both.clbin: k.cl opt.cl
#| exit 0
#| 1
#| 1
#| exit 0
#| exit 0
#| 1
#| none.clbin: bundle of format 1.0, 0 entries
#|
#| program 'opt', variant 'default'
#|   options   none
#|   source    kept: 1 file
#| exit 0
#| "severity": "note"
#| "severity": "warning"
#| exit 1
#| 1
#| program 'opt', variant 'default'
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: '--optional k': there is no program 'k'; there is 'opt'
#| oclcc: error: '--optional' keeps the source of 'opt', and '--no-source' drops it; use '--strip --strip-source' on the bundle to ship only what compiled
#| oclcc: error: '--optional' is for bundles, but 'opt.bin' is not one

### absent_variant
# If some devices cannot build a variant, oclcc prints a warning and omits it for them. It is an
# error if no device can build it, or if -Werror=variant is given.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
# One platform with double precision, and one without, if they are here.
if list_devices | grep -q -i rusticl && list_devices | grep -q Oclgrind; then
  mkdir "$HOME/two"
  cp "$OCL_ICD_VENDORS"/{oclgrind,rusticl}.icd "$HOME/two"
  export OCL_ICD_VENDORS=$HOME/two
  device_count=$(list_devices | wc -l)
fi
# The macros that each device defines decide whether it rejects a variant.
cat > k.cl << 'EOF'
#if defined(WIDE) && !defined(cl_khr_fp64)
#error no fp64
#endif
#if defined(NARROW) && defined(cl_khr_fp64)
#error fp64
#endif
kernel void k(global int* a) { *a = 1; }
EOF
oclcc --keep-going -DWIDE k.cl -o one.clbin 2> /dev/null
has_fp64=$([ ! -e one.clbin ] || entries one.clbin)
for variant in WIDE NARROW; do
  [ "$variant" = WIDE ] && able=$has_fp64 || able=$((device_count - has_fp64))
  rm -f k.clbin
  oclcc k.cl --variant default= --variant "$variant=-D$variant" -o k.clbin 2> log; status=$?
  if [ "$able" = 0 ]; then # with one device, a typing error looks the same as a missing feature
    [ $status = 1 ] && [ ! -e k.clbin ] && grep -q '^k.cl:[25]:2: error: ' log && continue
  elif [ "$able" = "$device_count" ]; then
    [ $status = 0 ] && [ ! -s log ] && continue
  else
    if ! { [ $status = 0 ] && [ "$(entries k.clbin)" = $((device_count + able)) ] &&
      [ "$(grep -c " warning: variant '$variant' does not compile and is omitted \[-Wvariant\] \[on '" log)" = 1 ] &&
      grep -q '^k.cl:[25]:2: note: ' log && ! grep -q 'error:' log; }; then
      echo "$variant: exit $status"; cat log
    fi
    oclcc --info -v k.clbin | grep -q "^program 'k', variant '$variant'" || echo "$variant is not listed"
    rm k.clbin
    for strict in -Werror=variant -Werror; do
      oclcc k.cl "$strict" --variant default= --variant "$variant=-D$variant" -o k.clbin 2> log; status=$?
      [ $status = 1 ] && [ ! -e k.clbin ] && grep -q '^k.cl:[25]:2: error: ' log && continue
      echo "$strict $variant: exit $status"; cat log
    done
    continue
  fi
  echo "$variant: exit $status, $able of $device_count devices"; cat log
done
rm -f one.clbin
# A typing error fails on every device.
sed -i '$a #ifdef TYPO\nint typo = nope;\n#endif' k.cl
oclcc k.cl --variant default= --variant typo=-DTYPO -o k.clbin 2> log; echo "exit $?"
grep -c '^k.cl:9:12: error: ' log
# If no variant of a program builds on a device, it is an error of the program.
echo 'kernel void bad(global int* a) { *a = x; }' > bad.cl
oclcc bad.cl --variant one= --variant two=-DX -o k.clbin 2> log; echo "exit $?"
ls ./*.clbin 2> /dev/null
oclcc k.cl --variant one=-Werror=variant; echo "exit $?"
# expected output:
#| exit 1
#| 1
#| exit 1
#| exit 2
# expected errors:
#| oclcc: error: variant 'one': '-Werror=variant' is not one of -D, -U, -cl-*, -g, -O*, -w and -Werror
