#!/bin/bash
# --mode binary writes the same bytes as oclcc for the device with that name, with any options.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
# shellcheck source=tests/cli/offline_compiler.bash
source "$CLI_TESTS/offline_compiler.bash"
mkdir "my headers"
echo '#define NUMBER 42' > "my headers/number.h"
cat > k.cl <<'END'
#include "number.h"
constant char text[] = TEXT;
kernel void k(global int* a) { a[0] = NUMBER + sizeof(text); }
END
number=0
while IFS= read -r name; do
  device_info "$name" info
  # No suffix, as in the suite: the kernel's name and two checksums.
  "$offline_compiler" "--mode=binary" "--source=k.cl" "--output=k.1a2b3c4d.$number" \
    "--cl-device-info=info" -- -I "my headers" '-DTEXT="a b"' -cl-mad-enable -w ||
    echo "'$name': exit $?"
  oclcc --device "$name" -I "my headers" '-DTEXT="a b"' -cl-mad-enable -w k.cl -o expected.bin
  cmp "k.1a2b3c4d.$number" expected.bin
  number=$((number + 1))
done < <(device_names)
[ "$number" = "$device_count" ] || echo "$number devices"
ls -d -- *.1a2b3c4d.*[!0-9]* 2> /dev/null
exit 0
