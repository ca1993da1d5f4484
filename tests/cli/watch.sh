#!/bin/bash
# Tests of --watch. Most rounds write a bundle of the sources, which needs no driver.

# start WORD…: starts oclcc --watch.
start() {
  exec {messages}< <(exec oclcc --watch "$@" 2>&1)
  watch=$!
  trap 'kill $watch' EXIT
}
# next_round: prints the messages of a round, without its duration. Waits for it.
next_round() {
  local line
  while IFS= read -r -t 100 -u "$messages" line; do
    sed -E 's/ in [0-9]+[.][0-9]+ s/ in N s/' <<< "$line"
    [[ $line =~ \ in\ [0-9]+[.][0-9]+\ s ]] && return
  done
  echo "there is no round"
}
# together COMMANDS: runs commands whose changes --watch sees at once.
together() { kill -STOP "$watch" && eval "$1"; kill -CONT "$watch"; }
# save FILE TEXT: writes a file. --watch does not see it empty.
save() { kill -STOP "$watch" && echo "$2" > "$1"; kill -CONT "$watch"; }
# compare WORD…: compares k.clbin with what a compile writes now.
compare() { oclcc "$@" -o now.clbin && cmp k.clbin now.clbin; }

### source
# A changed source is compiled again, also if an editor replaces the file.
echo 'kernel void a() {}' > k.cl
start k.cl --source-only -o k.clbin
next_round
save k.cl 'kernel void b() {}'
next_round
compare k.cl --source-only
echo 'kernel void c() {}' > .k.cl.new
together 'mv k.cl k.cl~ && mv .k.cl.new k.cl'
next_round
compare k.cl --source-only
together 'echo "kernel void d()" > k.cl && echo " {}" >> k.cl'
next_round
compare k.cl --source-only
# expected output:
#| oclcc: note: wrote k.clbin in N s; watching 1 files
#| oclcc: note: k.cl changed: wrote k.clbin in N s
#| oclcc: note: k.cl changed: wrote k.clbin in N s
#| oclcc: note: k.cl changed: wrote k.clbin in N s

### header
# Headers are watched as long as a source includes them, and so is every place before them where
# one would be found first.
mkdir -p one two/deep
echo '#define N 1' > two/deep/n.h
printf '#include "deep/n.h"\nkernel void a() {}\n' > k.cl
words=(k.cl -I one -I two --source-only)
start "${words[@]}" -o k.clbin
next_round
save two/deep/n.h '#define N 2'
next_round
mkdir one/deep
save one/deep/n.h '#define N 3'
next_round
compare "${words[@]}"
rm -r one/deep
next_round
compare "${words[@]}"
save k.cl $'#include "m.h"\nkernel void a() {}'
next_round
save two/deep/n.h '#define N 4' # not included any more
save m.h '#define M 1'
next_round
compare "${words[@]}"
# expected output:
#| oclcc: note: wrote k.clbin in N s; watching 2 files
#| oclcc: note: two/deep/n.h changed: wrote k.clbin in N s
#| oclcc: note: one/deep/n.h, two/deep/n.h changed: wrote k.clbin in N s
#| oclcc: note: one/deep/n.h, two/deep/n.h changed: wrote k.clbin in N s
#| oclcc: note: k.cl changed: wrote k.clbin in N s
#| oclcc: note: m.h changed: wrote k.clbin in N s

### links
# A source behind symbolic links changes with each of them, and with the file.
mkdir first second
echo 'kernel void a() {}' > first/k.cl
echo 'kernel void b() {}' > second/k.cl
ln -s first now
ln -s now/k.cl k.cl
start k.cl --source-only -o k.clbin
next_round
ln -sfn second now
next_round
compare k.cl --source-only
save second/k.cl 'kernel void c() {}'
next_round
compare k.cl --source-only
# expected output:
#| oclcc: note: wrote k.clbin in N s; watching 1 files
#| oclcc: note: k.cl changed: wrote k.clbin in N s
#| oclcc: note: k.cl changed: wrote k.clbin in N s

### deleted
# A source that is deleted, with its folder, makes a round fail, and is compiled when it is back.
mkdir src
echo 'kernel void a() {}' > src/k.cl
start src/k.cl --source-only -o k.clbin
next_round
cp k.clbin before.clbin
rm -r src
next_round
cmp k.clbin before.clbin
mkdir src
save src/k.cl 'kernel void b() {}'
next_round
compare src/k.cl --source-only
# expected output:
#| oclcc: note: wrote k.clbin in N s; watching 1 files
#| oclcc: error: cannot open 'src/k.cl': No such file or directory
#| oclcc: note: src/k.cl changed: failed in N s, k.clbin is as before
#| oclcc: note: src/k.cl changed: wrote k.clbin in N s

### several
# Files that change together are compiled together. A file that is only touched is not.
for name in a b c d e f; do echo "kernel void $name() {}" > $name.cl; done
start ./*.cl --source-only -o k.clbin
next_round
together 'echo "kernel void changed() {}" | tee a.cl b.cl > c.cl'
next_round
compare ./*.cl --source-only
touch a.cl && sleep 0.1 # for a round, if one began
together 'for name in a b c d e f; do echo "kernel void new_$name() {}" > $name.cl; done'
next_round
# expected output:
#| oclcc: note: wrote k.clbin in N s; watching 6 files
#| oclcc: note: ./a.cl, ./b.cl, ./c.cl changed: wrote k.clbin in N s
#| oclcc: note: ./a.cl, ./b.cl, ./c.cl, ./d.cl and 2 more changed: wrote k.clbin in N s

### settings
# Response files, keys and the configuration file are read by a compile, too.
echo 'kernel void a() {}' > k.cl
oclcc --keygen k --no-passphrase
echo '--source-only -DN=1' > options
start k.cl @options --sign-key k.key -o k.clbin
next_round
save options '--source-only -DN=2'
next_round
compare k.cl --source-only -DN=2 --sign-key k.key
save options '--source-only -DN=3 "'
IFS= read -r -t 100 -u "$messages" line && echo "$line"
save options '--source-only -DN=3'
next_round
compare k.cl --source-only -DN=3 --sign-key k.key
oclcc --keygen other --no-passphrase
mv other.key k.key
next_round
compare k.cl --source-only -DN=3 --sign-key k.key
mkdir -p "$HOME/.config/clbin"
save "$HOME/.config/clbin/oclcc.conf" '# none'
next_round | sed "s|$HOME|HOME|"
# expected output:
#| oclcc: note: wrote k.clbin in N s; watching 3 files
#| oclcc: note: options changed: wrote k.clbin in N s
#| oclcc: error: 'options' ends within quotes
#| oclcc: note: options changed: wrote k.clbin in N s
#| oclcc: note: k.key changed: wrote k.clbin in N s
#| oclcc: note: HOME/.config/clbin/oclcc.conf changed: wrote k.clbin in N s

### during_a_compile
# What changes while a compile runs is compiled afterwards, even if it is as before then. The command
# that signs runs after the sources were read; that it does not sign does not matter.
oclcc --keygen k --no-passphrase
echo 'kernel void a() {}' > k.cl
cat > sign <<'SIGN'
cat > /dev/null
[ -e changed ] || { echo 'kernel void b() {}' > k.cl; echo 'kernel void a() {}' > k.cl; touch changed; }
exit 1
SIGN
start k.cl --source-only --sign-with 'sh sign' --public-key k.pub -o k.clbin
next_round
next_round
# expected output:
#| oclcc: error: the command of '--sign-with' failed with exit status 1
#| oclcc: note: failed in N s; watching 2 files
#| oclcc: error: the command of '--sign-with' failed with exit status 1
#| oclcc: note: k.cl changed: failed in N s

### never_torn
# Who opens the bundle at any moment finds a whole one.
echo 'kernel void first() {}' > k.cl
start k.cl --source-only -o k.clbin
next_round > rounds
until [ -e enough ]; do oclcc --verify k.clbin || break; done &
for i in $(seq 50); do
  save k.cl "kernel void k$i() {} // $(printf '%*s' $((i * 1000)) '')"
  next_round
done >> rounds
touch enough
wait $!
compare k.cl --source-only
grep -c 'k.cl changed: wrote k.clbin' rounds
ls -A "$TMPDIR"
# expected output:
#| 50

### every_change
# However the changes follow each other, the last bundle is that of the last source.
echo 'kernel void first() {}' > k.cl
start k.cl --source-only -o k.clbin
next_round > rounds
for i in $(seq 100); do
  echo "kernel void k$i() {}" > "k$((i % 2)).cl"
  mv "k$((i % 2)).cl" k.cl
  sleep "0.0$((i * 7 % 60))"
done
oclcc k.cl --source-only -o now.clbin
until cmp -s k.clbin now.clbin; do next_round; done >> rounds
grep -v 'wrote k.clbin' rounds
# expected exit status: 1

### signals
# A signal ends --watch as it ends a compile, between two rounds and during one, and nothing is left.
echo 'kernel void a() {}' > k.cl
oclcc --keygen k --no-passphrase
PYTHONPATH="$CLI_TESTS/interruption" python3 - <<'PYTHON'
import signal
from interrupt import *

WATCH = ["--watch", "k.cl", "--source-only", "-o", "k.clbin"]
SIGNING = ["--sign-with", "touch signing; exec sleep 1000", "--public-key", "k.pub"]


def end_by(number, words, is_ready):
    process = start(words)
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_ready(process) and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(number)
    _, printed = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == -number, (process.returncode, printed)
    left = wait_until_nothing_is_left()
    assert not left, left


for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    end_by(number, WATCH, lambda process: b"watching" in process.stderr.readline())
    end_by(number, WATCH + SIGNING, lambda process: os.path.exists("signing"))
    os.remove("signing")
end_by(signal.SIGKILL, WATCH + SIGNING, lambda process: os.path.exists("signing"))
print("done")
PYTHON
# expected output:
#| done

### refused
# What has no file to watch, or writes none, is refused.
echo 'kernel void a() {}' > k.cl
mkfifo pipe
make_bundle sample s.clbin
for words in '-' 'k.cl -o -' 'k.cl -M' 'k.cl -###' 'k.cl --compile-commands' 's.clbin --info' \
    's.clbin --merge -o t.clbin' 'k.cl --plan json' 's.clbin -o t.clbin' 'pipe -o k.clbin' \
    'k.cl -include pipe' 'k.cl -o k.cl' 'k.cl --optional none'; do
  # shellcheck disable=SC2086 # several words
  oclcc --watch $words < /dev/null; echo "exit $?"
done
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
# expected errors:
#| oclcc: error: '--watch' requires regular files, and '-' is none
#| oclcc: error: '--watch' requires regular files, and '-' is none
#| oclcc: error: '--watch' and '-M' cannot be used together
#| oclcc: error: '--watch' and '-###' cannot be used together
#| oclcc: error: '--watch' and '--compile-commands' cannot be used together
#| oclcc: error: '--watch' cannot be used with '--info'
#| oclcc: error: '--watch' cannot be used with '--merge'
#| oclcc: error: '--watch' cannot be used with '--plan'
#| oclcc: error: '--watch' cannot be used with 's.clbin', which is a bundle: its programs are built as they were recorded
#| oclcc: note: to see its contents: oclcc --info s.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: '--watch' requires regular files, and 'pipe' is none
#| oclcc: error: '--watch' requires regular files, and 'pipe' is none
#| oclcc: error: 'k.cl' is both an input and the output
#| oclcc: error: '--optional none': there is no program 'none'; there is 'k'

### quiet
# -q prints errors only, and --diagnostics-format writes a document a round.
echo 'kernel void a() {}' > k.cl
start k.cl --source-only -q -o k.clbin
until [ -e k.clbin ]; do sleep 0.01; done
rm k.cl
IFS= read -r -t 100 -u "$messages" line && echo "$line"
kill "$watch"
echo 'kernel void a() {}' > k.cl
start k.cl --source-only --diagnostics-format json -o k.clbin
for _ in 1 2; do
  while IFS= read -r -t 100 -u "$messages" line && [ "$line" != "}" ]; do
    grep -o '"message": .* in ' <<< "$line"
  done
  save k.cl 'kernel void b() {}'
done
# expected output:
#| oclcc: error: cannot open 'k.cl': No such file or directory
#| "message": "wrote k.clbin in 
#| "message": "k.cl changed: wrote k.clbin in 

### limits
# If the system has no watches left, the error names the setting.
unshare -Ur true 2> /dev/null || { echo "there are no user namespaces"; exit 77; }
echo 'kernel void a() {}' > k.cl
for limit in max_inotify_watches max_inotify_instances; do
  unshare -Ur sh -c "echo 0 > /proc/sys/user/$limit; oclcc --watch k.cl --source-only -o k.clbin"
  echo "exit $?"
done
# expected output:
#| exit 3
#| exit 3
# expected errors:
#| oclcc: error: cannot watch '/': this user has no watches left; raise the limit with 'sysctl fs.inotify.max_user_watches=1048576'
#| oclcc: error: cannot watch '.': too many programs of this user watch files; raise the limit with 'sysctl fs.inotify.max_user_instances=1024'
