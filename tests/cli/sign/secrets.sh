#!/bin/bash
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
