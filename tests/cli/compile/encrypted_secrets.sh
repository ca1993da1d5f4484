#!/bin/bash
# Keys are not in messages, caches, temporary files, process lists, environments, or the memory of
# other processes. Plain kernels are not in caches, and no temporary file remains.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
see_only 'Portable Computing Language'
pocl=$device
echo 'kernel void k(global int* a) { a[get_global_id(0)] = 3; } // nobody reads 7391 here' > k.cl
oclcc --keygen c --key-type content
oclcc --keygen r --key-type recipient
oclcc --keygen s --no-passphrase
oclcc --no-cache k.cl --device "$pocl" -o plain.clbin
oclcc --extract plain.clbin -o plain
DEVICE=$pocl python3 - <<'END_OF_PYTHON'
import base64
import glob
import os
import re
import resource
import subprocess

base = os.path.dirname(os.environ["TMPDIR"])
device = ["--device", os.environ["DEVICE"]]
secrets = []
for name in ("c", "r"):
    line = open(f"{name}.key").read().splitlines()[1]
    key = base64.b64decode(line)[2:34]
    secrets += [key, key.hex().encode(), line[4:44].encode(), base64.b64encode(key)[:40]]
binary = next(path for path in glob.glob("plain/*") if os.path.isfile(path))
contents_of = [open(binary, "rb").read(), b"nobody reads 7391 here"]
plain = [contents_of[1], contents_of[0][len(contents_of[0]) // 2 :][:64]]


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def search(where, text, words=secrets):
    for word in words:
        assert word not in text, where


def search_files(words, allowed):
    for folder, _, names in os.walk(base):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and os.path.relpath(path) not in allowed and "plain" not in path:
                search(path, contents(path), words)


def children_of(pid):
    found = [int(word) for path in glob.glob(f"/proc/{pid}/task/*/children") for word in contents(path).split()]
    return found + [grandchild for child in found for grandchild in children_of(child)]


def memory_of(pid):
    try:
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for line in maps:
                begin, end, rights = re.match("([0-9a-f]+)-([0-9a-f]+) (....)", line).groups()
                if rights.startswith("rw"):
                    memory.seek(int(begin, 16))
                    yield memory.read(int(end, 16) - int(begin, 16)) or b""
    except (OSError, ValueError):
        return  # it has ended, or the system does not allow it


def search_processes(pid):
    for path in glob.glob("/proc/[0-9]*"):
        search(path, contents(path + "/cmdline"))
        search(path, contents(path + "/environ"))
    children = children_of(pid)
    for child in children:
        for part in memory_of(child):
            search(f"memory of {child}: {contents(f'/proc/{child}/cmdline')}", part)
    return len(children)


def run(words):
    most = 0
    process = subprocess.Popen(["oclcc", "-v", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while process.poll() is None:
        search_files(secrets, ("c.key", "r.key"))
        most = max(most, search_processes(process.pid))
    printed = process.stdout.read()
    search("messages", printed)
    assert process.returncode == 0, printed
    assert os.listdir(os.environ["TMPDIR"]) == []
    return most


hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
most = 0
for words in (
    ["k.cl", *device, "--encrypt-key", "c.key", "-o", "e.clbin"],
    ["k.cl", *device, "--encrypt-key", "c.key", "--encrypt-for", "r.pub", "--sign-key", "s.key", "-o", "k.c"],
    ["e.clbin", *device, "--decrypt-key", "c.key", "-o", "f.clbin"],
    ["--verify", "--run", *device, "--decrypt-key", "c.key", "e.clbin"],
    ["--explain", *device, "--decrypt-key", "c.key", "e.clbin"],
    ["--encrypt", "--encrypt-for", "r.pub", "--decrypt-key", "c.key", "e.clbin", "-o", "g.clbin"],
    ["--repack", "--decrypt-key", "r.key", "g.clbin"],
    ["--info", "--decrypt-key", "r.key", "g.clbin"],
    ["-###", "k.cl", *device, "--encrypt-key", "c.key", "-o", "e.clbin"],
):
    most = max(most, run(words))
assert most >= 2, most  # a worker and the guard
print("no key is anywhere")
search_files(plain, ("k.cl",))


def cached():
    return [name for _, _, names in os.walk(os.environ["XDG_CACHE_HOME"]) for name in names]


assert cached() == []
print("no plain kernel is left")
subprocess.run(["oclcc", "k.cl", *device, "-o", "other.clbin"], check=True)
assert cached()

# No core dump, and nobody but root reads its memory.
os.mkfifo("go")
words = ["oclcc", "k.cl", "--source-only", "--encrypt-key", "c.key", "--sign-with", "touch started; cat go; false",
         "--public-key", "s.pub", "-o", "h.clbin"]
process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
while not os.path.exists("started") and process.poll() is None:
    pass
limits = contents(f"/proc/{process.pid}/limits").decode()
assert re.search("Max core file size +0 +0 ", limits), limits
assert os.stat(f"/proc/{process.pid}/environ").st_uid == 0
search_processes(process.pid)
open("go", "w").close()
print("exit", process.wait())
END_OF_PYTHON
# expected output:
#| no key is anywhere
#| no plain kernel is left
#| exit 3
