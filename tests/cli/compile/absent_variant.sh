#!/bin/bash
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
