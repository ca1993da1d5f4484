#!/bin/bash
# Compiles that sign and encrypt.

### encrypt_key
# An encrypted bundle has the same bytes in any folder, with any -j and by the commands of -###. A
# compile of an encrypted bundle encrypts its output.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
# shellcheck disable=SC2154
device=(--device "${devices%%$'\n'*}")
echo 'kernel void a(global int* p) { p[get_global_id(0)] = 1; }' > a.cl
echo 'kernel void b(global int* p) { p[get_global_id(0)] = 2; }' > b.cl
for name in c d; do oclcc --keygen $name --key-type content; done
oclcc --keygen r --key-type recipient
oclcc --keygen k --no-passphrase
oclcc --no-cache a.cl b.cl "${device[@]}" -o plain.clbin
oclcc --encrypt --encrypt-key c.key plain.clbin -o encrypted.clbin
oclcc -j1 a.cl b.cl "${device[@]}" --encrypt-key c.key -o one.clbin; echo "exit $?"
cmp one.clbin encrypted.clbin && echo 'as by --encrypt'
oclcc -j2 a.cl b.cl "${device[@]}" --encrypt-key c.key -o two.clbin && cmp one.clbin two.clbin
mkdir -p another/place
cp a.cl b.cl another/place
(cd another/place && oclcc b.cl a.cl "${device[@]}" --encrypt-key ../../c.key -o two.clbin) && cmp one.clbin another/place/two.clbin
oclcc a.cl b.cl "${device[@]}" --encrypt-for r.pub -o for.clbin && oclcc --decrypt --decrypt-key r.key for.clbin && cmp for.clbin plain.clbin && echo 'for a recipient'

echo "== nothing from or into the compile cache"
find "$XDG_CACHE_HOME" -type f | wc -l
oclcc a.cl b.cl "${device[@]}" -o cached.clbin
find "$XDG_CACHE_HOME" -type f -exec sha256sum {} + > cache_before
oclcc -v a.cl b.cl "${device[@]}" --encrypt-key c.key -o no_hit.clbin 2>&1 | grep cache
cmp one.clbin no_hit.clbin
sha256sum --quiet -c cache_before

echo "== by the commands of -###"
for output in by_run.clbin e.h; do
  for words in '--encrypt-key c.key --sign-key k.key' '--encrypt-key c.key' '--encrypt-key c.key --encrypt-for r.pub' '--encrypt-for r.pub'; do
    # shellcheck disable=SC2086
    oclcc '-###' a.cl b.cl "${device[@]}" $words -o $output 2>&1 | tail -n +2 > run.sh
    grep -c -- --no-cache run.sh
    rm -f ./by_run*.clbin ./e*.clbin
    sh -e run.sh; echo "exit $?"
    mv $output by_commands
    # shellcheck disable=SC2086
    oclcc a.cl b.cl "${device[@]}" $words -o $output
    case $words in
    *encrypt-for*) [ $output = e.h ] || { oclcc --decrypt --decrypt-key r.key by_commands && cmp by_commands plain.clbin; } ;;
    *) cmp by_commands $output ;;
    esac
  done
done

echo "== --keep-going"
echo 'kernel void bad(global int* a) { *a = x; }' > bad.cl
oclcc a.cl bad.cl "${device[@]}" --encrypt-key c.key -o both.clbin 2> /dev/null; echo "exit $?"
[ -e both.clbin ] || echo 'nothing is written'
oclcc --keep-going a.cl bad.cl "${device[@]}" --encrypt-key c.key -o both.clbin 2> /dev/null; echo "exit $?"
oclcc --verify both.clbin; echo "exit $?"
oclcc --verify --decrypt-key c.key both.clbin; echo "exit $?"

echo "== a compile of an encrypted bundle"
oclcc a.cl --source-only -o a.clbin
oclcc b.cl --source-only -o b.clbin
oclcc a.clbin "${device[@]}" -o built.clbin
for name in a b; do oclcc --encrypt --encrypt-key c.key $name.clbin -o ${name}c.clbin; done
oclcc --encrypt --encrypt-key d.key b.clbin -o bd.clbin
cp ac.clbin before.clbin
oclcc ac.clbin "${device[@]}" -o ac.clbin; echo "exit $?"
cmp ac.clbin before.clbin && echo 'not written without its key'
find "$XDG_CACHE_HOME" -type f -exec sha256sum {} + > cache_before
oclcc -v ac.clbin "${device[@]}" --decrypt-key c.key -o ac.clbin 2>&1 | grep cache
sha256sum --quiet -c cache_before
find "$XDG_CACHE_HOME" -type f | wc -l | cmp - <(wc -l < cache_before)
oclcc --encrypt --encrypt-key c.key built.clbin -o expected.clbin && cmp ac.clbin expected.clbin && echo 'encrypted as before'
oclcc before.clbin "${device[@]}" --decrypt-key c.key --encrypt-key d.key --sign-key k.key -o x.clbin; echo "exit $?"
oclcc --verify --public-key k.pub --decrypt-key d.key x.clbin; echo "exit $?"
oclcc --decrypt --decrypt-key d.key x.clbin && cmp x.clbin built.clbin && echo 'encrypted anew'
oclcc a.clbin bc.clbin "${device[@]}" --decrypt-key c.key -o x.clbin; echo "exit $?"
oclcc a.clbin b.clbin "${device[@]}" --encrypt-key c.key -o y.clbin && cmp x.clbin y.clbin && echo 'never plain by accident'
oclcc before.clbin bd.clbin "${device[@]}" --decrypt-key c.key --decrypt-key d.key -o z.clbin; echo "exit $?"
oclcc before.clbin bd.clbin "${device[@]}" --decrypt-key c.key --decrypt-key d.key --encrypt-key c.key -o z.clbin; echo "exit $?"
cmp z.clbin y.clbin
oclcc before.clbin "${device[@]}" --decrypt-key c.key --no-source -o x.clbin; echo "exit $?"
oclcc a.clbin "${device[@]}" --no-source -o y.clbin && oclcc --decrypt --decrypt-key c.key x.clbin && cmp x.clbin y.clbin
oclcc before.clbin "${device[@]}" --decrypt-key c.key -o x.bin; echo "exit $?"
[ -e x.bin ] || echo 'no device binary'
oclcc before.clbin "${device[@]}" --decrypt-key c.key --encrypt-key c.key -o z.bin; echo "exit $?"
oclcc --explain "${device[@]}" --decrypt-key c.key expected.clbin | tail -n +2 | diff - <(oclcc --explain "${device[@]}" built.clbin | tail -n +2) && echo 'explained'
oclcc --verify --run "${device[@]}" --decrypt-key c.key expected.clbin; echo "exit $?"
oclcc --verify --run "${device[@]}" expected.clbin; echo "exit $?"
# expected output:
#| exit 0
#| as by --encrypt
#| for a recipient
#| == nothing from or into the compile cache
#| 0
#| compile cache: off: it would contain the kernels of an encrypted bundle
#| == by the commands of -###
#| 2
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#| == --keep-going
#| exit 1
#| nothing is written
#| exit 1
#| exit 0
#| exit 0
#| == a compile of an encrypted bundle
#| exit 4
#| not written without its key
#| compile cache: off: it would contain the kernels of an encrypted bundle
#| encrypted as before
#| exit 0
#| exit 0
#| encrypted anew
#| exit 0
#| never plain by accident
#| exit 2
#| exit 0
#| exit 0
#| exit 2
#| no device binary
#| exit 2
#| explained
#| exit 0
#| exit 4
# expected errors:
#| oclcc: warning: both.clbin: its contents were not checked, because it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: ac.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: note: x.clbin: the signatures of the input were removed, because the contents changed: sign it again
#| oclcc: note: x.clbin: encrypted with the key of bc.clbin: whoever can open bc.clbin can also read what comes from a.clbin, which is plain; '--encrypt-key' or '--encrypt-for' choose another key
#| oclcc: error: before.clbin and bd.clbin are encrypted with different content keys: choose that of the output with '--encrypt-key' or '--encrypt-for'
#| oclcc: error: 'x.bin' would not be encrypted, but 'before.clbin' is: compile what '--decrypt' makes of it
#| oclcc: error: '--encrypt-key' is for bundles, but 'z.bin' is not one
#| oclcc: note: to see its contents: oclcc --info before.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: expected.clbin: it is encrypted: name its key with '--decrypt-key'

### encrypted_secrets
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

### sign_key
# A signed bundle has the same bytes with any -j and by the commands of -###.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
# shellcheck disable=SC2154
device=(--device "${devices%%$'\n'*}")
echo 'kernel void a(global int* p) { p[get_global_id(0)] = 1; }' > a.cl
echo 'kernel void b(global int* p) { p[get_global_id(0)] = 2; }' > b.cl
oclcc --keygen k --no-passphrase
oclcc --no-cache -j1 a.cl b.cl "${device[@]}" --sign-key k.key --counter 2 -o one.clbin; echo "exit $?"
oclcc --no-cache -j2 a.cl b.cl "${device[@]}" --sign-key k.key --counter 2 -o two.clbin && cmp one.clbin two.clbin
# Nothing is taken from the compile cache, which contains all of it.
oclcc a.cl b.cl "${device[@]}" -o unsigned.clbin
oclcc -v a.cl b.cl "${device[@]}" --sign-key k.key --counter 2 -o no_hit.clbin 2>&1 | grep 'cache'
cmp one.clbin no_hit.clbin
oclcc --verify --public-key k.pub --least-counter 2 one.clbin; echo "exit $?"
for output in by_run.clbin e.h; do
  oclcc '-###' a.cl b.cl "${device[@]}" --sign-key k.key --counter 2 -o $output 2>&1 | tail -n +2 > run.sh
  grep -c -- --no-cache run.sh
  sh -e run.sh; echo "exit $?"
  mv $output by_commands
  oclcc a.cl b.cl "${device[@]}" --sign-key k.key --counter 2 -o $output
  cmp by_commands $output
done
oclcc '-###' a.cl "${device[@]}" --sign-with 'cat x' --public-key k.pub -o c.clbin 2>&1 | tail -n +2

# The programs of a signed bundle are built anew: the bundle changes, and so does its signature.
oclcc one.clbin "${device[@]}" -o rebuilt.clbin; echo "exit $?"
oclcc --verify --public-key k.pub rebuilt.clbin; echo "exit $?"
oclcc -q one.clbin "${device[@]}" --sign-key k.key -o rebuilt.clbin; echo "exit $?"
oclcc --verify --public-key k.pub rebuilt.clbin; echo "exit $?"

# A note names what the new signature does not replace.
oclcc --keygen other --no-passphrase
oclcc --strip-signature one.clbin
rebuild() { oclcc signed.clbin "${device[@]}" "$@" -o rebuilt.clbin 2>&1 | grep signatures; echo "rebuilt: $*"; }
oclcc --sign --key k.key one.clbin -o signed.clbin
rebuild --sign-key k.key
rebuild --sign-key k.key --counter 3
rebuild --sign-key other.key
rebuild
oclcc --sign --key k.key --counter 2 one.clbin -o signed.clbin
rebuild --sign-key k.key
rebuild --sign-key k.key --counter 3
oclcc --sign --key k.key --vouched-by other.key one.clbin -o signed.clbin
rebuild --sign-key k.key
oclcc --sign --key other.key one.clbin -o signed.clbin
oclcc --sign --key k.key signed.clbin
rebuild --sign-key k.key
# expected output:
#| exit 0
#| compile cache: off: who can write it must not choose what is signed
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#|  oclcc --device 0:0 --no-cache --program a=a.cl -o c.clbin --sign-with 'cat x' --public-key k.pub
#| exit 0
#| exit 4
#| exit 0
#| exit 0
#| rebuilt: --sign-key k.key
#| rebuilt: --sign-key k.key --counter 3
#| oclcc: note: rebuilt.clbin: other signatures, counters or vouches of the input were removed, because the contents changed
#| rebuilt: --sign-key other.key
#| oclcc: note: rebuilt.clbin: the signatures of the input were removed, because the contents changed: sign it again
#| rebuilt: 
#| oclcc: note: rebuilt.clbin: other signatures, counters or vouches of the input were removed, because the contents changed
#| rebuilt: --sign-key k.key
#| rebuilt: --sign-key k.key --counter 3
#| oclcc: note: rebuilt.clbin: other signatures, counters or vouches of the input were removed, because the contents changed
#| rebuilt: --sign-key k.key
#| oclcc: note: rebuilt.clbin: other signatures, counters or vouches of the input were removed, because the contents changed
#| rebuilt: --sign-key k.key
# expected errors:
#| oclcc: note: rebuilt.clbin: the signatures of the input were removed, because the contents changed: sign it again
#| oclcc: error: rebuilt.clbin: a signature is required, and the bundle has none
