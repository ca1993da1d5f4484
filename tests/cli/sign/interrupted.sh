#!/bin/bash
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
