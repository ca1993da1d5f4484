#!/bin/bash
# By number, by kind, by a part of a name in any case; several patterns are a union.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
for device in $devices; do
  oclcc --device "$device" k.cl -o one.clbin
  [ "$(entries one.clbin)" = 1 ] || echo "--device $device did not make one entry"
  # A platform's name means all its devices.
  [ "$(echo "$devices" | grep -c "^${device%:*}:")" = 1 ] || continue
  name=$(oclcc --info one.clbin | sed -n 's/^    platform  //p' | tr a-z A-Z)
  oclcc --device "$name" k.cl -o named.clbin
  cmp one.clbin named.clbin
done
arguments=()
for device in $devices; do arguments+=(--device "$device"); done
oclcc "${arguments[@]}" k.cl -o union.clbin
oclcc --device all k.cl -o all.clbin
cmp union.clbin all.clbin
