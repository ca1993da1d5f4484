#!/bin/bash
# SIGINT, SIGTERM and SIGHUP end oclcc by that signal, without output, and nothing of the run is
# left.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" two_platforms
export CLBIN_CACHE=0 # the signal must arrive during a build
cat > k.cl <<'END'
kernel void k(global int* a) { a[get_global_id(0)] = 3; }
END
echo old > out.clbin
PYTHONPATH="$CLI_TESTS/interruption" python3 - <<'END'
import signal
import subprocess
from interrupt import *

words = ["k.cl", "-o", "out.clbin"]
seconds = min(duration(words) for _ in range(2))
# One handler serves the three signals, so that most moments are tried with one of them.
for number, moments in ((signal.SIGINT, 8), (signal.SIGTERM, 3), (signal.SIGHUP, 3)):
    ended = 0
    for fraction in fractions(moments):
        moment = fraction * seconds
        open("out.clbin", "w").write("old")
        code, printed, ran = run_and_signal(words, number, moment)
        seconds = min(seconds, ran)  # the machine was busier when it was measured
        # The kernel needs a moment to end the killed processes.
        left = wait_until_nothing_is_left()
        assert not left, f"after {number.name} at {moment}: {left}"
        assert printed == "", printed
        assert code in (0, -number), code
        ended += code == -number
        # After the rename, the output is the complete new file.
        is_old = open("out.clbin", "rb").read() == b"old"
        assert is_old or subprocess.run(["oclcc", "--verify", "out.clbin"]).returncode == 0
    assert ended > 0, f"{number.name} came too late each time"

print("done")
END
# expected output:
#| done
