#!/bin/bash
# Files that signing reads and replaces.

### places
# Where signed bundles are written, and what an error leaves.
make_bundle sample s.clbin
cp s.clbin t.clbin
cp s.clbin u.clbin
oclcc --keygen k --no-passphrase
head -c 300 s.clbin > cut.clbin
chmod 640 s.clbin
ln -s s.clbin link.clbin
oclcc --sign --key k.key link.clbin cut.clbin t.clbin missing.clbin; echo "exit $?"
[ -L link.clbin ] && stat -c %a s.clbin
oclcc --verify --public-key k.pub s.clbin t.clbin; echo "exit $?"
oclcc --sign --key k.key - -o - < u.clbin | cmp - t.clbin && echo 'piped'
oclcc --sign --key k.key - < u.clbin; echo "exit $?"
oclcc --sign --key k.key s.clbin t.clbin -o v.clbin; echo "exit $?"
oclcc --sign --key missing.key u.clbin; echo "exit $?"
oclcc --sign --key k.pub u.clbin; echo "exit $?"
oclcc --sign --key s.clbin u.clbin; echo "exit $?"
oclcc --sign --key k.key --json u.clbin | python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/change.schema.json"
cmp u.clbin t.clbin && echo 'the same with --json'

# A large file that is no bundle is not read. A pipe is read, but cannot be replaced.
truncate -s 40G large.clbin
timeout 60 oclcc --sign --key k.key large.clbin; echo "exit $?"
oclcc --sign --key k.key <(cat s.clbin) -o w.clbin && cmp w.clbin t.clbin && echo 'from a pipe'
mkfifo fifo
timeout 60 oclcc --sign --key k.key fifo; echo "exit $?"
timeout 60 oclcc --sign --key k.key /dev/zero; echo "exit $?"
rm large.clbin w.clbin fifo

# A damaged bundle is not signed.
cp s.clbin flipped.clbin
printf '\377' | dd of=flipped.clbin bs=1 seek=3000 conv=notrunc status=none
oclcc --sign --key k.key flipped.clbin; echo "exit $?"

# At most 16 records.
for i in {1..16}; do
  oclcc --keygen "n$i" --no-passphrase
  oclcc --sign --key "n$i.key" u.clbin || { echo "exit $?"; break; }
done
echo "not signed with key $i"
oclcc --sign --key n3.key u.clbin; echo "exit $?"

# A full disk leaves the old bundle.
cp t.clbin before.clbin
oclcc --strip-signature t.clbin -o unsigned.clbin
cp unsigned.clbin full.clbin
(ulimit -f 1; oclcc --sign --key k.key full.clbin); echo "exit $?"
cmp full.clbin unsigned.clbin
oclcc --sign --key k.key t.clbin -o /dev/full; echo "exit $?"
cmp t.clbin before.clbin
rm n*.key n*.pub
ls -A
# expected output:
#| exit 4
#| 640
#| exit 0
#| piped
#| exit 2
#| exit 2
#| exit 3
#| exit 3
#| exit 3
#| fits the schema
#| the same with --json
#| exit 4
#| from a pipe
#| exit 2
#| exit 3
#| exit 4
#| exit 4
#| not signed with key 16
#| exit 0
#| exit 3
#| exit 3
#| before.clbin
#| cut.clbin
#| flipped.clbin
#| full.clbin
#| k.key
#| k.pub
#| link.clbin
#| s.clbin
#| t.clbin
#| u.clbin
#| unsigned.clbin
# expected errors:
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 300 bytes are present
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: '--sign' cannot replace standard input: name an output with '-o'
#| oclcc: error: '-o' accepts the output of '--sign' for one bundle, but 2 are given
#| oclcc: error: cannot open 'missing.key': No such file or directory
#| oclcc: error: 'k.pub': not a secret key of minisign: it is a public key of minisign
#| oclcc: error: 's.clbin': not a secret key of minisign: it does not have a comment and a line of base64
#| oclcc: error: large.clbin: not a bundle: it starts with 00 00 00 00 00 00 00 00
#| oclcc: error: '--sign' cannot replace 'fifo', which is a pipe: name an output with '-o'
#| oclcc: error: cannot read '/dev/zero': not a regular file
#| oclcc: error: flipped.clbin: blob 2: stored_digest does not match: it was changed
#| oclcc: error: u.clbin: a bundle has at most 16 trailing records, and this one would have 17
#| oclcc: error: cannot write 'full.clbin': File too large
#| oclcc: error: cannot write '/dev/full': No space left on device

### overwrite
# An output never replaces the key, the passphrase or the bundle that it is made with.
make_bundle sample s.clbin
echo 'kernel void k(global int* a) { a[get_global_id(0)] = 3; }' > k.cl
echo 'correct horse' > pass
oclcc --keygen k --no-passphrase
oclcc --keygen old --passphrase-file pass
ln -s k.key link
oclcc --sign --key k.key s.clbin -o signed.clbin
tail -c 64 signed.clbin > raw
sha256sum -- * > before
refuses() { "$@"; echo "exit $?"; sha256sum --quiet -c before; }
refuses oclcc --sign --key k.key s.clbin -o k.key
refuses oclcc --sign --key k.key s.clbin -o link
refuses oclcc --sign --key k.key s.clbin -o ./old.key --vouched-by old.key --passphrase-file pass
refuses oclcc --sign --key old.key --passphrase-file pass s.clbin -o pass
refuses oclcc --sign --sign-with 'cat raw' --public-key k.pub s.clbin -o k.pub
refuses oclcc k.cl --source-only --sign-key k.key -o k.key
refuses oclcc k.cl --source-only --sign-key k.key -MD -MF k.key -o k.clbin
refuses oclcc k.cl --source-only --sign-key k.key --embed-header k.key -o k.o
refuses oclcc k.cl --source-only --sign-key old.key --passphrase-file pass -o pass
refuses oclcc k.cl --source-only --sign-with 'cat raw' --public-key k.pub -o k.pub
refuses oclcc s.clbin --target spirv:1.2 --sign-key k.key -o k.key
refuses oclcc s.clbin --target spirv:1.2 --sign-key k.key -MD -MF k.key -o new.clbin
refuses oclcc --sign-message s.clbin -o s.clbin
refuses oclcc --sign --detached --key k.key s.clbin -o s.clbin
refuses oclcc --sign --detached --key k.key s.clbin -o k.key
ln s.clbin signed.clbin.minisig
refuses oclcc --sign --detached --key k.key signed.clbin s.clbin
rm signed.clbin.minisig
ln -s k.key s.clbin.minisig
refuses oclcc --sign --detached --key k.key s.clbin
ls
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| before
#| k.cl
#| k.key
#| k.pub
#| link
#| old.key
#| old.pub
#| pass
#| raw
#| s.clbin
#| s.clbin.minisig
#| signed.clbin
# expected errors:
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: error: 'link' is both an input and the output
#| oclcc: error: './old.key' is both an input and the output
#| oclcc: error: 'pass' is both an input and the output
#| oclcc: error: 'k.pub' is both an input and the output
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: error: 'pass' is both an input and the output
#| oclcc: error: 'k.pub' is both an input and the output
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: note: to see its contents: oclcc --info s.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: note: to see its contents: oclcc --info s.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: 's.clbin' is both an input and the output
#| oclcc: error: 's.clbin' is both an input and the output
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: error: 'signed.clbin.minisig' is both an input and the output
#| oclcc: error: 's.clbin.minisig' is both an input and the output

### read_only_folder
# A bundle in a folder of a read-only file system, in which not even root can write.
make_bundle sample s.clbin
oclcc --keygen k --no-passphrase
mkdir folder && mv s.clbin k.key folder
unshare -rm true 2> /dev/null || { echo "this machine forbids mount namespaces"; exit 77; }
unshare -rm bash -c '
  mount --bind folder folder && mount -o remount,ro,bind folder || { echo "cannot mount"; exit 77; }
  oclcc --sign --key folder/k.key folder/s.clbin; echo "exit $?"
  oclcc --sign --detached --key folder/k.key folder/s.clbin; echo "exit $?"
  oclcc --keygen folder/l --no-passphrase; echo "exit $?"
  oclcc --strip-signature folder/s.clbin; echo "exit $?"
  oclcc --sign --key folder/k.key folder/s.clbin -o signed.clbin; echo "exit $?"'
oclcc --verify --public-key k.pub signed.clbin; echo "exit $?"
# expected output:
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 0
#| exit 0
# expected errors:
#| oclcc: error: cannot write 'folder/s.clbin': Read-only file system
#| oclcc: error: cannot write 'folder/s.clbin.minisig': Read-only file system
#| oclcc: error: cannot write 'folder/l.key': Read-only file system
#| oclcc: error: cannot write 'folder/s.clbin': Read-only file system

### concurrent
# Signing in place discards no signature that another process has added since the bundle was read.
make_bundle sample s.clbin
keys='1 2 3 4 5 6'
for n in $keys; do oclcc --keygen k$n --no-passphrase; done
verified() {
  local count=0
  for n in $keys; do oclcc --verify --public-key k$n.pub "$1" > /dev/null 2>&1 && ((++count)); done
  echo "$count of the keys have signed $1"
}

# Another process signs while the command of the first one runs.
oclcc --sign --key k1.key s.clbin -o one.clbin
tail -c 64 one.clbin > raw
nested() {
  rm -f runs
  export bundle=$1
  # shellcheck disable=SC2016
  oclcc --sign --public-key k1.pub --sign-with '
    [ -e runs ] || oclcc --sign --key k2.key "$bundle"
    echo run >> runs
    cat raw' "${@:2}"
  echo "exit $? after $(wc -l < runs) runs"
  verified "$1"
}
for name in a b c target all locked; do cp s.clbin $name.clbin; done
ln -s target.clbin link.clbin
nested a.clbin a.clbin
nested b.clbin b.clbin -o b.clbin
nested link.clbin link.clbin
[ -L link.clbin ] && echo 'the link is still one'

# A separate output replaces no input.
nested c.clbin c.clbin -o separate.clbin
verified separate.clbin

for n in $keys; do oclcc --sign --key k$n.key all.clbin & done
wait
verified all.clbin

# Nobody can stop others from signing with a lock, which everyone who can read the file can take.
(flock 9 && exec sleep 1000) 9< locked.clbin & locker=$!
until ! flock --nonblock locked.clbin true; do sleep 0.01; done
oclcc --sign --key k1.key locked.clbin; echo "exit $?"
kill $locker
verified locked.clbin
# expected output:
#| exit 0 after 2 runs
#| 2 of the keys have signed a.clbin
#| exit 0 after 2 runs
#| 2 of the keys have signed b.clbin
#| exit 0 after 2 runs
#| 2 of the keys have signed link.clbin
#| the link is still one
#| exit 0 after 1 runs
#| 1 of the keys have signed c.clbin
#| 1 of the keys have signed separate.clbin
#| 6 of the keys have signed all.clbin
#| exit 0
#| 1 of the keys have signed locked.clbin

### killed
# SIGKILL at any moment leaves the old or the new bundle, and no other file.
make_bundle large 2 s.clbin
cp s.clbin old.clbin
oclcc --keygen k --no-passphrase
oclcc --sign --key k.key s.clbin -o new.clbin
PYTHONPATH="$CLI_TESTS/interruption" python3 - <<'END_OF_PYTHON'
import signal
from interrupt import *

old, new = (open(name, "rb").read() for name in ("old.clbin", "new.clbin"))
words = ["--sign", "--key", "k.key", "s.clbin"]
seconds = min(duration(words) for _ in range(3))
kept = 0
for fraction in fractions(40):
    open("s.clbin", "wb").write(old)
    code, printed, ran = run_and_signal(words, signal.SIGKILL, fraction * seconds)
    seconds = min(seconds, ran)
    assert code in (0, -signal.SIGKILL) and printed == "", (code, printed)
    left = wait_until_nothing_is_left()
    assert not left, left
    content = open("s.clbin", "rb").read()
    assert content in (old, new) and (code != 0 or content == new)
    kept += content == old
    assert sorted(os.listdir(".")) == ["k.key", "k.pub", "new.clbin", "old.clbin", "s.clbin"]
assert kept > 0
print("done")
END_OF_PYTHON
# expected output:
#| done
