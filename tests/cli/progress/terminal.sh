#!/bin/bash
# On a terminal, one line shows the progress, and is erased at the end. -v prints plain lines
# instead, and -q prints none.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" two_platforms
export CLBIN_CACHE=0
for program in a b c; do
  echo "kernel void $program(global int* x) { *x = 1; }" > $program.cl
done
python3 - "$device_count" <<'END'
import os, re, subprocess, sys

units = 3 * int(sys.argv[1])


def shown(words):
    """What a terminal of 60 columns gets on standard error."""
    master, slave = os.openpty()
    import fcntl, struct, termios
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    process = subprocess.Popen(["oclcc", *words, "a.cl", "b.cl", "c.cl", "-o", "x.clbin"],
                               stdout=subprocess.PIPE, stderr=slave)
    os.close(slave)
    text = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    assert process.wait() == 0
    assert process.stdout.read() == b""
    return text.decode()


clear = "\r\x1b[K"
normal = shown([])
lines = normal.split(clear)
assert lines[-1] == "", normal  # erased at the end
lines = lines[:-1]
assert len(lines) == units + 1, normal
assert lines[0].startswith(f"[0/{units}] "), lines[0]
for number, line in enumerate(lines):
    assert line.startswith(f"[{number}/{units}] "), line
    # A long device name may leave no room for the program's name.
    assert re.search(" · ?[abc]?", line) or len(line) == 59, line
    assert len(line) < 60 and "\n" not in line, line

verbose = shown(["-v"])
assert clear not in verbose
plain = [line for line in verbose.splitlines() if re.match(rf"\[\d+/{units}\] ", line)]
assert len(plain) == units, verbose
assert shown(["-q"]) == ""
print("done")
END
# expected output:
#| done
