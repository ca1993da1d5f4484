#!/bin/bash
# A command of --sign-with that hangs is ended after --timeout, with the processes that it started.
make_bundle sample s.clbin
cp s.clbin before.clbin
oclcc --keygen k --no-passphrase
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
hang='setsid sleep 1000 & echo $! > child; echo $$ > self; cat > message; exec sleep 1000'
ended() {
  for _ in $(seq 500); do
    kill -0 "$(cat child)" 2> /dev/null || kill -0 "$(cat self)" 2> /dev/null || break
    sleep 0.02
  done
  kill -0 "$(cat child)" 2> /dev/null || kill -0 "$(cat self)" 2> /dev/null || echo 'all ended'
}
oclcc --sign --sign-with "$hang" --public-key k.pub --timeout 1 s.clbin; echo "exit $?"
ended
oclcc --sign --detached --sign-with "$hang" --public-key k.pub --timeout 1 s.clbin; echo "exit $?"
ended
oclcc k.cl --source-only --sign-with "$hang" --public-key k.pub --timeout 1 -o k.clbin; echo "exit $?"
ended
cmp s.clbin before.clbin && echo 'the bundle is unchanged'
ls
ls -A "$TMPDIR"
oclcc --sign --key k.key --timeout 0 s.clbin; echo "exit $?"
# expected output:
#| exit 3
#| all ended
#| exit 3
#| all ended
#| exit 3
#| all ended
#| the bundle is unchanged
#| before.clbin
#| child
#| k.cl
#| k.key
#| k.pub
#| message
#| s.clbin
#| self
#| exit 2
# expected errors:
#| oclcc: error: s.clbin: the command of '--sign-with' did not finish within 1 s ('--timeout')
#| oclcc: error: s.clbin: the command of '--sign-with' did not finish within 1 s ('--timeout')
#| oclcc: error: the command of '--sign-with' did not finish within 1 s ('--timeout')
#| oclcc: error: '--timeout' requires a number from 1 to 86400, not '0'
