#!/bin/bash
# Keys that sign, and their passphrases.

### keygen
# Writes minisign's key files, and never replaces a file.
umask 022
oclcc --keygen k --no-passphrase; echo "exit $?"
stat -c '%a %n' k.key k.pub
echo text > text
minisign -S -s k.key -m text > log < /dev/null && minisign -V -q -p k.pub -m text && echo 'minisign signs with it'
minisign -R -s k.key -p again.pub > log < /dev/null && tail -n 1 again.pub | cmp - <(tail -n 1 k.pub)
oclcc --keygen l --no-passphrase
cmp -s k.key l.key || echo 'another key'
sha256sum k.key k.pub > sums
oclcc --keygen k --no-passphrase; echo "exit $?"
rm l.key && oclcc --keygen l --no-passphrase; echo "exit $?"
ln -s nowhere m.key && oclcc --keygen m --no-passphrase; echo "exit $?"
oclcc --keygen no/such/folder --no-passphrase; echo "exit $?"
oclcc --keygen n --no-passphrase > /dev/full; echo "exit $?" # prints nothing
(ulimit -f 0; oclcc --keygen o --no-passphrase); echo "exit $?"
sha256sum --quiet -c sums
ls
# expected output:
#| exit 0
#| 600 k.key
#| 644 k.pub
#| minisign signs with it
#| another key
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 0
#| exit 3
#| again.pub
#| k.key
#| k.pub
#| l.pub
#| log
#| m.key
#| n.key
#| n.pub
#| sums
#| text
#| text.minisig
# expected errors:
#| oclcc: error: cannot write 'k.key': File exists
#| oclcc: error: cannot write 'l.pub': File exists
#| oclcc: error: cannot write 'm.key': File exists
#| oclcc: error: cannot write 'no/such/folder.key': No such file or directory
#| oclcc: error: cannot write 'o.key': File too large

### passphrase
# A passphrase comes from a file or from standard input, and minisign accepts the same one. Each use
# of one takes a second and 1 GiB.
make_bundle sample s.clbin
echo 'correct horse' > pass
echo 'wrong horse' > wrong
oclcc --keygen k --passphrase-file pass; echo "exit $?"
stat -c '%a %n' k.key
cp s.clbin before.clbin
oclcc --sign --key k.key --passphrase-file wrong s.clbin; echo "exit $?"
cmp s.clbin before.clbin
echo text > text
minisign -S -s k.key -m text < pass > log 2>&1 && minisign -V -q -p k.pub -m text && echo 'minisign signs with it'
(cat pass pass) | minisign -G -p m.pub -s m.key > log 2>&1
oclcc --sign --key m.key s.clbin < pass; echo "exit $?"
oclcc --verify --public-key m.pub s.clbin && echo 'signed'

# What fails before a key is derived.
oclcc --sign --key k.key s.clbin < /dev/null; echo "exit $?"
oclcc --sign --key k.key --passphrase-file /dev/null s.clbin; echo "exit $?"
oclcc --sign --key k.key --passphrase-file missing s.clbin; echo "exit $?"
oclcc --sign --key k.key - -o t.clbin < s.clbin; echo "exit $?"
head -c 2000 /dev/zero | tr '\0' x > long
oclcc --sign --key k.key --passphrase-file long s.clbin; echo "exit $?"
echo > empty
oclcc --keygen e --passphrase-file empty; echo "exit $?"
oclcc --keygen e < /dev/null; echo "exit $?"
ls
# expected output:
#| exit 0
#| 600 k.key
#| exit 3
#| minisign signs with it
#| exit 0
#| signed
#| exit 3
#| exit 3
#| exit 3
#| exit 2
#| exit 3
#| exit 2
#| exit 3
#| before.clbin
#| empty
#| k.key
#| k.pub
#| log
#| long
#| m.key
#| m.pub
#| pass
#| s.clbin
#| text
#| text.minisig
#| wrong
# expected errors:
#| oclcc: error: 'k.key': wrong passphrase for the secret key
#| oclcc: error: standard input does not contain a passphrase: use a terminal or '--passphrase-file'
#| oclcc: error: '/dev/null' does not contain a passphrase
#| oclcc: error: cannot open 'missing': No such file or directory
#| oclcc: error: standard input contains a file and cannot contain a passphrase: use '--passphrase-file'
#| oclcc: error: a passphrase in 'long' has more than 1024 bytes
#| oclcc: error: the passphrase is empty: use '--no-passphrase' for a key without one
#| oclcc: error: standard input does not contain a passphrase: use a terminal or '--passphrase-file'

### terminal
# On a terminal, oclcc asks for a passphrase without echo, and restores the terminal.
make_bundle sample s.clbin
export NO_COLOR=1
python3 - <<'END_OF_PYTHON'
import os
import pty
import select
import signal
import termios
import time

PATIENCE_SECONDS = 120


class Session:
    """oclcc on a terminal of its own, with the answers to its questions."""

    def __init__(self, *words):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execvp("oclcc", ["oclcc", *words])
        self.printed = b""

    def wait_for(self, text):
        end = time.monotonic() + PATIENCE_SECONDS
        while text not in self.printed:
            assert time.monotonic() < end, self.printed
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.printed += os.read(self.terminal, 4096)

    def echoes(self):
        return bool(termios.tcgetattr(self.terminal)[3] & termios.ECHO)

    def answer(self, question, text):
        self.wait_for(question)
        assert not self.echoes()
        self.printed = b""
        os.write(self.terminal, text)

    def finish(self):
        """Returns the wait status."""
        while True:
            try:
                part = os.read(self.terminal, 4096)
            except OSError:  # the other end is closed
                part = b""
            if not part:
                break
            self.printed += part
        _, status = os.waitpid(self.process, 0)
        assert b"horse" not in self.printed, self.printed
        return status


session = Session("--keygen", "k")
assert session.echoes()
session.answer(b"New passphrase of k.key: ", b"correct horse\n")
session.answer(b"Again: ", b"correct horse\n")
print("keygen", os.WEXITSTATUS(session.finish()))

session = Session("--keygen", "other")
session.answer(b"New passphrase of other.key: ", b"correct horse\n")
session.answer(b"Again: ", b"other horse\n")
print("keygen", os.WEXITSTATUS(session.finish()), session.printed.decode().strip())

# Ctrl-Z and Ctrl-\ have no effect until the passphrase is entered. Ctrl-U erases them.
session = Session("--sign", "--key", "k.key", "s.clbin")
session.wait_for(b"Passphrase of k.key: ")
characters = termios.tcgetattr(session.terminal)[6]
assert characters[termios.VSUSP] == characters[termios.VQUIT] == b"\0"
session.answer(b"Passphrase of k.key: ", b"\x1a\x1c\x15correct horse\n")
print("sign", session.finish(), session.printed.strip())

# Ctrl-C, a signal, and the end of the input.
session = Session("--keygen", "other")
session.wait_for(b"New passphrase")
assert not session.echoes()
os.write(session.terminal, b"\x03")
end = time.monotonic() + PATIENCE_SECONDS
while not session.echoes() and time.monotonic() < end:
    time.sleep(0.01)
assert session.echoes()
print("ended by", signal.Signals(os.WTERMSIG(session.finish())).name)

session = Session("--keygen", "other")
session.wait_for(b"New passphrase")
assert not session.echoes()
os.kill(session.process, signal.SIGTERM)
print("ended by", signal.Signals(os.WTERMSIG(session.finish())).name)

session = Session("--keygen", "other")
session.answer(b"New passphrase", b"\x04")
print("keygen", os.WEXITSTATUS(session.finish()), session.printed.decode().strip())
END_OF_PYTHON
oclcc --verify --public-key k.pub s.clbin; echo "exit $?"
ls
# expected output:
#| keygen 0
#| keygen 2 oclcc: error: the passphrases differ
#| sign 0 b''
#| ended by SIGINT
#| ended by SIGTERM
#| keygen 3 oclcc: error: no passphrase was entered
#| exit 0
#| k.key
#| k.pub
#| s.clbin

### secrets
# Keys and passphrases are not in messages, caches, temporary files, process lists and environments.
make_bundle sample s.clbin
echo 'kernel void k(global int* a) { a[get_global_id(0)] = 3; }' > k.cl
oclcc --keygen new --no-passphrase
echo correct-horse-battery-staple > pass
oclcc --keygen old --passphrase-file pass
oclcc --keygen plain --no-passphrase
mkfifo go
python3 - <<'END_OF_PYTHON'
import base64
import glob
import os
import re
import resource
import subprocess
import time

PATIENCE_SECONDS = 120
base = os.path.dirname(os.environ["TMPDIR"])
secrets = [b"correct-horse-battery-staple"]
for name in ("new", "plain"):
    # The seed, after the algorithms, the salt, the costs and the key id.
    seed = base64.b64decode(open(f"{name}.key").read().splitlines()[1])[62:94]
    line = open(f"{name}.key").read().splitlines()[1]
    secrets += [seed, seed.hex().encode(), base64.b64encode(seed)[:40], line[84:124].encode()]
    assert sum(seed) > 0


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def search(where, text):
    for secret in secrets:
        assert secret not in text, where


def search_everywhere():
    for folder, _, names in os.walk(base):
        for name in names:
            path = os.path.join(folder, name)
            if name not in ("new.key", "plain.key", "pass") and os.path.isfile(path):
                search(path, contents(path))
    for path in glob.glob("/proc/[0-9]*"):
        search(path, contents(path + "/cmdline"))
        search(path, contents(path + "/environ"))


# While a slow command signs, oclcc has read the passphrase and the key that vouches.
command = "touch started; cat go; false"
resource.setrlimit(resource.RLIMIT_CORE, (hard := resource.getrlimit(resource.RLIMIT_CORE)[1], hard))
words = ["oclcc", "-v", "--sign", "--sign-with", command, "--public-key", "new.pub", "--vouched-by",
         "old.key", "--passphrase-file", "pass", "s.clbin"]
process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
end = time.monotonic() + PATIENCE_SECONDS
while not os.path.exists("started") and time.monotonic() < end:
    time.sleep(0.01)
assert os.path.exists("started")
limits = contents(f"/proc/{process.pid}/limits").decode()
assert re.search("Max core file size +0 +0 ", limits), limits
assert os.stat(f"/proc/{process.pid}/environ").st_uid == 0  # nobody's but root's
search_everywhere()
open("go", "w").close()
printed, _ = process.communicate()
search("messages", printed)
print(printed.decode().strip())

# A compile with a key.
for words in (["k.cl", "--source-only", "--sign-key", "plain.key", "-o", "k.clbin"],
              ["k.cl", "--source-only", "--sign-key", "plain.key", "-o", "k.c"],
              ["--sign", "--key", "plain.key", "--vouched-by", "new.key", "s.clbin"],
              ["--sign", "--key", "pass", "s.clbin"],
              ["--verify", "--public-key", "new.key", "s.clbin"]):
    process = subprocess.run(["oclcc", "-v", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    search("messages", process.stdout)
    print(process.returncode, process.stdout.decode().strip())
search_everywhere()
assert os.listdir(os.environ["TMPDIR"]) == []
END_OF_PYTHON
# expected output:
#| oclcc: error: s.clbin: the command of '--sign-with' failed with exit status 1
#| 0 compile cache: off: who can write it must not choose what is signed
#| 0 compile cache: off: who can write it must not choose what is signed
#| 0 
#| 3 oclcc: error: 'pass': not a secret key of minisign: it does not have a comment and a line of base64
#| 3 oclcc: error: 'new.key': not a public key of minisign: it is a secret key of minisign
