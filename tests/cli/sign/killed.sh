#!/bin/bash
# SIGKILL at any moment leaves the old or the new bundle, and no other file.
make_bundle large 2 s.clbin
cp s.clbin old.clbin
oclcc --keygen k --no-passphrase
oclcc --sign --key k.key s.clbin -o new.clbin
PYTHONPATH="$CLI_TESTS/interruption" python3 - <<'END_OF_PYTHON'
import signal
from interrupt import *

old, new = (open(name, "rb").read() for name in ("old.clbin", "new.clbin"))
words = ["--sign", "--key", "k.key", "s.clbin"]
seconds = min(duration(words) for _ in range(3))
kept = 0
for fraction in fractions(40):
    open("s.clbin", "wb").write(old)
    code, printed, ran = run_and_signal(words, signal.SIGKILL, fraction * seconds)
    seconds = min(seconds, ran)
    assert code in (0, -signal.SIGKILL) and printed == "", (code, printed)
    left = wait_until_nothing_is_left()
    assert not left, left
    content = open("s.clbin", "rb").read()
    assert content in (old, new) and (code != 0 or content == new)
    kept += content == old
    assert sorted(os.listdir(".")) == ["k.key", "k.pub", "new.clbin", "old.clbin", "s.clbin"]
assert kept > 0
print("done")
END_OF_PYTHON
# expected output:
#| done
