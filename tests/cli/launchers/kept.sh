#!/bin/bash
# The tests of launchers use a header that oclcc still writes, from the source for each device, and
# from a bundle. Comments show the arguments as each compiler reports them.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
without_comments() { grep -v '^// kernel void' "$1"; }
without_comments "$ROOT/tests/launchers/launched.hpp" > kept
cp "$ROOT/tests/launchers/launched.cl" .
for device in $devices; do
  oclcc launched.cl --device "$device" -o one.hpp
  without_comments one.hpp | diff - kept
done
oclcc launched.cl
oclcc launched.clbin -o bundle.hpp
without_comments bundle.hpp | diff - kept
oclcc launched.cl --emit hpp -o bundle.txt
cmp bundle.txt bundle.hpp
