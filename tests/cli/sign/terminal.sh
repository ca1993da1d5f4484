#!/bin/bash
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
