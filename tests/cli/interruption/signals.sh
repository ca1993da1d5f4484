#!/bin/bash
# Signals that oclcc receives.

### signals
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

### sigkill
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

### ignored_signal
# A signal that is ignored when oclcc starts stays ignored, for nohup(1).
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
export CLBIN_CACHE=0 # the signal must arrive during a build
echo 'kernel void k(global int* a) { a[get_global_id(0)] = 3; }' > k.cl
trap '' HUP
oclcc k.cl -o out.clbin &
for _ in 1 2 3 4 5; do
  sleep 0.05
  kill -HUP $! 2> /dev/null
done
wait $! && [ "$(entries out.clbin)" -ge 1 ] && echo "done"
# expected output:
#| done
