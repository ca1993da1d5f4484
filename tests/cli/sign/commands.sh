#!/bin/bash
# Signing by another program, and signatures of minisign.

### sign_with
# oclcc checks what a command answers, and writes nothing if it is not the signature.
make_bundle sample s.clbin
make_bundle changed other.clbin
for name in k other; do oclcc --keygen $name --no-passphrase; done
oclcc --sign --key k.key s.clbin -o signed.clbin
oclcc --sign --key k.key other.clbin -o other_signed.clbin
tail -c 64 signed.clbin > raw
tail -c 64 other_signed.clbin > of_another_bundle
oclcc --sign --key other.key s.clbin -o t.clbin && tail -c 64 t.clbin > by_another_key
cp s.clbin before.clbin
sign() { oclcc --sign --sign-with "$1" --public-key k.pub s.clbin; echo "exit $?"; }
for command in 'cat raw' 'base64 -w0 raw' 'cat raw; echo noise >&2' 'base64 raw | tr -d "\n"; echo'; do
  sign "$command"
  cmp s.clbin signed.clbin || echo "$command: other bytes"
  cp before.clbin s.clbin
done

for command in 'exit 7' 'kill -9 $$' 'no-such-command-secret 2> /dev/null' true 'echo garbage' 'yes' 'head -c 63 raw' \
    '(cat raw; echo)' 'cat of_another_bundle' 'cat by_another_key' 'head -c 64 /dev/zero' 'cat k.pub' \
    'cat > b; minisign -S -s k.key -m b > /dev/null; cat b.minisig'; do
  sign "$command"
done
oclcc --sign --sign-with 'cat raw' --public-key other.pub s.clbin; echo "exit $?"
oclcc --sign --sign-with 'cat raw' --public-key missing.pub s.clbin; echo "exit $?"
oclcc --sign --sign-with 'cat raw' --public-key k.key s.clbin; echo "exit $?"
oclcc --sign --sign-with 'cat raw' --public-key k.pub --counter 3 s.clbin 2>&1 | sed 's/key [0-9a-f]*/key/'
cmp s.clbin before.clbin && echo 'the bundle is unchanged'
ls -A "$TMPDIR"
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| exit 0
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| oclcc: error: s.clbin: the command of '--sign-with' wrote bytes that are not a signature of the message by key
#| the bundle is unchanged
# expected errors:
#| noise
#| oclcc: error: s.clbin: the command of '--sign-with' failed with exit status 7
#| oclcc: error: s.clbin: the command of '--sign-with' was ended by signal 9
#| oclcc: error: s.clbin: the command of '--sign-with' failed with exit status 127
#| oclcc: error: s.clbin: the command of '--sign-with' wrote 0 bytes, which are not a signature: 64 bytes, 88 base64 digits, or a signature file of minisign
#| oclcc: error: s.clbin: the command of '--sign-with' wrote 8 bytes, which are not a signature: 64 bytes, 88 base64 digits, or a signature file of minisign
#| oclcc: error: s.clbin: the command of '--sign-with' wrote more than 16384 bytes
#| oclcc: error: s.clbin: the command of '--sign-with' wrote 63 bytes, which are not a signature: 64 bytes, 88 base64 digits, or a signature file of minisign
#| oclcc: error: s.clbin: the command of '--sign-with' wrote 65 bytes, which are not a signature: 64 bytes, 88 base64 digits, or a signature file of minisign
#| oclcc: error: s.clbin: the command of '--sign-with' wrote bytes that are not a signature of the message by key *
#| oclcc: error: s.clbin: the command of '--sign-with' wrote bytes that are not a signature of the message by key *
#| oclcc: error: s.clbin: the command of '--sign-with' wrote bytes that are not a signature of the message by key *
#| oclcc: error: s.clbin: the command of '--sign-with' wrote 113 bytes, which are not a signature: 64 bytes, 88 base64 digits, or a signature file of minisign
#| oclcc: error: s.clbin: the command of '--sign-with' signed a digest of the bytes: use 'minisign -S -l', which signs the bytes
#| oclcc: error: s.clbin: the command of '--sign-with' wrote bytes that are not a signature of the message by key *
#| oclcc: error: cannot open 'missing.pub': No such file or directory
#| oclcc: error: 'k.key': not a public key of minisign: it is a secret key of minisign

### minisign
# Signs as Debian's minisign does: the same signature from the same key, in both directions.
make_bundle sample s.clbin
minisign -G -W -p m.pub -s m.key > log
oclcc --sign --key m.key s.clbin -o by_oclcc.clbin; echo "exit $?"
oclcc --sign-message s.clbin > message; echo "exit $?"
stat -c '%s bytes' message
head -c 11 message; echo
tail -c 32 message | cmp - <(tail -c +33 s.clbin | head -c 32) && echo 'and the root'
minisign -S -l -s m.key -m message > log
oclcc --sign --sign-with 'cat message.minisig' --public-key m.pub s.clbin -o by_minisign.clbin; echo "exit $?"
cmp by_oclcc.clbin by_minisign.clbin && echo 'the same record'
oclcc --sign-message --counter 5 s.clbin -o counter; echo "exit $?"
stat -c '%s bytes' counter
minisign -S -l -s m.key -m counter > log
# The command is called for the signature first, and then for the counter.
oclcc --sign --sign-with 'cat > bytes; cmp -s bytes message && cat message.minisig || cat counter.minisig' \
  --public-key m.pub --counter 5 s.clbin -o with_counter.clbin; echo "exit $?"
oclcc --sign --key m.key --counter 5 s.clbin -o other.clbin && cmp other.clbin with_counter.clbin && echo 'the same records'
oclcc --verify --public-key "$(tail -n 1 m.pub)" --least-counter 5 with_counter.clbin; echo "exit $?"
oclcc --sign-message by_oclcc.clbin | cmp - message && echo 'the same message'
oclcc --sign-message missing.clbin; echo "exit $?"
head -c 300 s.clbin > cut.clbin
oclcc --sign-message cut.clbin -o never; echo "exit $?"
[ ! -e never ] || echo 'written'
# expected output:
#| exit 0
#| exit 0
#| 43 bytes
#| clbin-sig-1
#| and the root
#| exit 0
#| the same record
#| exit 0
#| 55 bytes
#| exit 0
#| the same records
#| exit 0
#| the same message
#| exit 3
#| exit 4
# expected errors:
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 300 bytes are present

### hanging_command
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

### interrupted
# A command that hangs ends with oclcc, even if oclcc is killed, and the bundle is unchanged.
make_bundle sample s.clbin
cp s.clbin before.clbin
oclcc --keygen k --no-passphrase
PYTHONPATH="$CLI_TESTS/interruption" python3 - <<'END_OF_PYTHON'
import signal
from interrupt import *

# The command starts a process that leaves its process group and ignores signals.
command = "trap '' INT TERM HUP; setsid sleep 1000 & touch started; sleep 1000"
words = ["--sign", "--sign-with", command, "--public-key", "k.pub", "s.clbin"]
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
    process = start(words)
    end = time.monotonic() + PATIENCE_SECONDS
    while not os.path.exists("started") and time.monotonic() < end:
        time.sleep(0.01)
    assert os.path.exists("started")
    os.remove("started")
    process.send_signal(number)
    code = process.wait(PATIENCE_SECONDS)
    assert code == -number, code
    # The pipe closes only if the command has ended, because it inherited standard error.
    _, printed = process.communicate(timeout=PATIENCE_SECONDS)
    assert printed == b"", printed
    left = wait_until_nothing_is_left()
    assert not left, f"after {number.name}: {left}"
    assert open("s.clbin", "rb").read() == open("before.clbin", "rb").read()
print("done")
END_OF_PYTHON
# expected output:
#| done
