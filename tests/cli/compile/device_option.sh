#!/bin/bash
# Options for matching devices are recorded in their entries. A fallback to source does not use
# them.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
first=$(echo "$devices" | head -1)
echo '#ifdef WRONG
#error wrong device
#endif
kernel void k(global int* a) { *a = X; }' > k.cl
oclcc k.cl -DX=1 --device-option "$first=-DX=2 -DONLY" --device-option all=-DALL; echo "exit $?"
[ "$device_count" -gt 1 ] || echo "    options   -DX=1 -DALL"
oclcc --info k.clbin | grep options | sort | uniq
oclcc --device "$first" k.cl -DX=1 --device-option "$first=-DWRONG" 2> errors; echo "exit $?"
grep -o '^k.cl:2:2: error: wrong device' errors
oclcc k.cl -DX=1 --device "$first" --device-option 'no such=-w' 2> errors; echo "exit $?"
grep -o "no device matches 'no such'; there are" errors
oclcc k.cl --device-option all; echo "exit $?"
oclcc k.cl --device-option all=-MD; echo "exit $?"
oclcc k.cl --device-option all='-I x'; echo "exit $?"
oclcc k.cl --variant v=-fsyntax-only; echo "exit $?"
# expected output:
#| exit 0
#|     options   -DX=1 -DALL
#|     options   -DX=2 -DONLY -DALL
#|   options   -DX=1
#| exit 1
#| k.cl:2:2: error: wrong device
#| exit 5
#| no device matches 'no such'; there are
#| exit 2
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: '--device-option' requires PATTERN=OPTIONS, not 'all'
#| oclcc: error: --device-option all: '-MD' is not one of -D, -U, -cl-*, -g, -O*, -w and -Werror
#| oclcc: error: --device-option all: '-I' is not one of -D, -U, -cl-*, -g, -O*, -w and -Werror
#| oclcc: error: variant 'v': '-fsyntax-only' is not one of -D, -U, -cl-*, -g, -O*, -w and -Werror
