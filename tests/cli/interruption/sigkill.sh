#!/bin/bash
# SIGKILL at 200 moments of a run leaves the old or the new output, but no worker and no temporary
# folder.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
export CLBIN_CACHE=0 # the signal must arrive during a build
cat > k.cl <<'END'
kernel void k(global int* a) { a[get_global_id(0)] = 3; }
END
PYTHONPATH="$CLI_TESTS/interruption" python3 - <<'END'
import signal
from interrupt import *

words = ["k.cl", "-o", "out.clbin"]
seconds = min(duration(words) for _ in range(3))
new = open("out.clbin", "rb").read()
old = b"old"
before_the_end = 0
for fraction in fractions(200):
    moment = fraction * seconds
    with open("out.clbin", "wb") as file:
        file.write(old)
    code, printed, ran = run_and_signal(words, signal.SIGKILL, moment)
    seconds = min(seconds, ran)  # the machine was busier when it was measured
    assert code in (0, -signal.SIGKILL), code
    assert printed == "", printed
    content = open("out.clbin", "rb").read()
    assert content in (old, new), f"{len(content)} bytes after SIGKILL at {moment}"
    assert code != 0 or content == new
    left = wait_until_nothing_is_left()
    assert not left, f"after SIGKILL at {moment}: {left}"
    assert sorted(os.listdir(".")) == ["k.cl", "out.clbin"], os.listdir(".")
    before_the_end += content == old
assert before_the_end > 50, f"only {before_the_end} were killed before they wrote"
print("done")
END
