#!/bin/bash
# SIGKILL at any moment of a run leaves the old or the new output, but no worker and no temporary
# folder. 16 moments are in a run that starts and calls drivers, and 150 in one that only reads and
# writes, which takes milliseconds.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
export CLBIN_CACHE=0 # the signal must arrive during a build
cat > k.cl <<'END'
kernel void k(global int* a) { a[get_global_id(0)] = 3; }
END
PYTHONPATH="$CLI_TESTS/interruption" python3 - <<'END'
import signal
from interrupt import *


def kill_at(count, words):
    seconds = min(duration(words) for _ in range(2))
    with open("out.clbin", "rb") as file:
        new = file.read()
    old = b"old"
    before_the_end = 0
    for fraction in fractions(count):
        moment = fraction * seconds
        with open("out.clbin", "wb") as file:
            file.write(old)
        code, printed, ran = run_and_signal(words, signal.SIGKILL, moment)
        seconds = min(seconds, ran)  # the machine was busier when it was measured
        assert code in (0, -signal.SIGKILL), code
        assert printed == "", printed
        with open("out.clbin", "rb") as file:
            content = file.read()
        assert content in (old, new), f"{len(content)} bytes after SIGKILL at {moment}"
        assert code != 0 or content == new
        left = wait_until_nothing_is_left()
        assert not left, f"after SIGKILL at {moment}: {left}"
        assert sorted(os.listdir(".")) == ["k.cl", "out.clbin"], os.listdir(".")
        before_the_end += content == old
    assert before_the_end > count / 4, f"only {before_the_end} were killed before they wrote"


kill_at(16, ["k.cl", "-o", "out.clbin"])
kill_at(150, ["k.cl", "--source-only", "-o", "out.clbin"])
print("done")
END
# expected output:
#| done
