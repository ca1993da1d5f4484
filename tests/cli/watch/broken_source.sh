#!/bin/bash
# A source that does not compile leaves the bundle as it is, and is compiled when it is mended.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
exec {messages}< <(exec oclcc --watch k.cl -o k.clbin 2>&1)
trap 'kill $! 2> /dev/null' EXIT
next_round() {
  until IFS= read -r -t 200 -u "$messages" line && [[ $line =~ (.*)\ in\ [0-9.]+\ s ]]; do
    [[ $line =~ k.cl:1:.*error: ]] && echo "an error in k.cl"
  done
  echo "${BASH_REMATCH[1]}"
}
next_round
cp k.clbin before.clbin
echo 'kernel void k(global int* a) { *a = missing; }' > k.cl
next_round
cmp k.clbin before.clbin
echo 'kernel void k(global int* a) { *a = 2; }' > k.cl
next_round
oclcc k.cl -o now.clbin
cmp k.clbin now.clbin
[ "$(entries k.clbin)" -ge 1 ] && echo "done"

# The process of the next round waits with its workers: it ends, too.
kill $!
for _ in $(seq 1000); do
  [ -z "$(ls -A "$TMPDIR")" ] && break
  sleep 0.02
done
ls -A "$TMPDIR"
# expected output:
#| oclcc: note: wrote k.clbin
#| an error in k.cl
#| oclcc: note: k.cl changed: failed
#| oclcc: note: k.cl changed: wrote k.clbin
#| done
