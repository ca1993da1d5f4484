#!/bin/bash
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
