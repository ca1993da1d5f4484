#!/bin/bash
# Tests of the compile cache.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
device=${devices%%$'\n'*}
# Prints what -v says of the cache when k.cl is compiled for the first device.
why() { oclcc --device "$device" -v k.cl "$@" 2>&1 | sed -n 's/.*compile cache: //p'; }

### cache_stats
# Prints the statistics of both caches. A missing folder counts as an empty cache. No driver starts.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --cache-stats; echo "exit $?"
ls -A "$XDG_CACHE_HOME"
for _ in 1 2 3; do oclcc --device "$device" k.cl; done
OCL_ICD_VENDORS=/nowhere oclcc --cache-stats; echo "exit $?"
schema=$ROOT/oclcc/schema/cache-stats.schema.json
oclcc --cache-stats --json | python3 "$CLI_TESTS/check_schema.py" "$schema"
CLBIN_CACHE=0 oclcc --cache-stats --json | python3 "$CLI_TESTS/check_schema.py" "$schema"
CLBIN_CACHE=0 oclcc --cache-stats --json | python3 -c '
import json, sys
report = json.load(sys.stdin)
print(report["off"], report["max_bytes"])
for cache in report["caches"]:
    print(cache["cache"], cache["entries"], cache["hits"], cache["misses"], cache["stored"])
'
CLBIN_CACHE_MAX_SIZE=1G CLBIN_CACHE=0 oclcc --cache-stats | head -4
mkdir open && chmod 0777 open
CLBIN_CACHE_DIR=open oclcc --cache-stats --json; echo "exit $?"
env -u HOME -u XDG_CACHE_HOME oclcc --cache-stats | head -1
oclcc --cache-stats k.cl; echo "exit $?"
# expected output:
#| directory: */home/cache/clbin
#| at most 536870912 bytes each
#|
#| user cache: programs that libclbin built
#|   entries                        0
#|   bytes                          0
#|   hits                           0
#|   misses                         0
#|   stored                         0
#|   evicted to make room           0
#|   removed because damaged or rejected  0
#|
#| compile cache: binaries that oclcc built
#|   entries                        0
#|   finished bundles               0
#|   bytes                          0
#|   hits                           0
#|   misses                         0
#|   stored                         0
#|   evicted to make room           0
#|   removed because damaged or rejected  0
#| exit 0
#| directory: */home/cache/clbin
#| at most 536870912 bytes each
#|
#| user cache: programs that libclbin built
#|   entries                        0
#|   bytes                          0
#|   hits                           0
#|   misses                         0
#|   stored                         0
#|   evicted to make room           0
#|   removed because damaged or rejected  0
#|
#| compile cache: binaries that oclcc built
#|   entries                        1
#|   finished bundles               1
#|   bytes                          *
#|   hits                           2
#|   misses                         1
#|   stored                         1
#|   evicted to make room           0
#|   removed because damaged or rejected  0
#| exit 0
#| fits the schema
#| fits the schema
#| CLBIN_CACHE is 0 536870912
#| user cache 0 0 0 0
#| compile cache 1 2 1 1
#| directory: */home/cache/clbin
#| at most 1073741824 bytes each
#| off: CLBIN_CACHE is 0
#|
#| exit 3
#| directory: none
#| exit 2
# expected errors:
#| oclcc: error: the cache directory '*/work/open' is not used: other users may write to it (mode 0777)
#| oclcc: warning: the cache is not used: HOME is not set
#| oclcc: error: '--cache-stats' accepts no input file, but 'k.cl' is given

### warm
# Stores what has to be built where loads find it. The others are loaded in spite of a failure.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --source-only k.cl -o s.clbin
oclcc --source-only --variant a=-DA --variant b=-DB k.cl -o two.clbin
oclcc --device "$device" k.cl -o own.clbin
oclcc --warm --device "$device" s.clbin; echo "exit $?"
oclcc --warm --device "$device" --specialize k=4 s.clbin two.clbin own.clbin; echo "exit $?"
oclcc -q --warm --device "$device" own.clbin; echo "exit $?"
oclcc --cache-stats --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["caches"][0]["stored"])'
echo 'kernel void k() { nothing; }' > bad.cl
oclcc --source-only bad.cl -o bad.clbin
oclcc --warm --device "$device" bad.clbin s.clbin 2> errors; echo "exit $?"
head -1 errors
CLBIN_CACHE=0 oclcc --warm s.clbin; echo "exit $?"
oclcc --keygen c --key-type content
oclcc --source-only --encrypt-key c.key k.cl -o secret.clbin
oclcc --warm secret.clbin; echo "exit $?"
oclcc --warm k.cl; echo "exit $?"
oclcc --warm - < s.clbin; echo "exit $?"
# expected output:
#| *: 0 from the bundle, 0 from the user cache, 1 built
#| exit 0
#| *: 1 from the bundle, 1 from the user cache, 2 built
#| exit 0
#| exit 0
#| 3
#| *: 0 from the bundle, 1 from the user cache, 0 built
#| exit 1
#| oclcc: error: bad.clbin: program 'bad', variant 'default': building 'bad.cl' for '*' failed: clBuildProgram: *
#| exit 2
#| exit 2
#| exit 4
#| exit 2
# expected errors:
#| oclcc: error: '--warm' fills libclbin's user cache, which is off: CLBIN_CACHE is 0
#| oclcc: error: secret.clbin: it is encrypted, and loads from it do not use the user cache
#| oclcc: error: k.cl: not a bundle: it starts with 6b 65 72 6e 65 6c 20 76
#| oclcc: note: 'k.cl' looks like OpenCL source: compile it first: oclcc k.cl
#| oclcc: error: '--warm' needs files: its workers cannot read standard input

### clear_cache
# Removes only files that the caches created, also if CLBIN_CACHE is 0.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --clear-cache; echo "exit $?"
ls -A "$XDG_CACHE_HOME"
export CLBIN_CACHE_DIR=$PWD/home
mkdir -p home/programs home/compilations
chmod -R go-w home
echo 'mine' | tee home/notes home/programs/kernels.clbin home/compilations/yarn.lock > /dev/null
why
why
CLBIN_CACHE=0 oclcc --clear-cache; echo "exit $?"
(cd home && find . -type f | sort)
why
oclcc --cache-stats | sed -n '/compile cache/,$p' | grep -v bytes
chmod 0777 home
oclcc --clear-cache; echo "exit $?"
# expected output:
#| exit 0
#| miss: never built, or no longer stored
#| hit
#| exit 0
#| ./compilations/yarn.lock
#| ./notes
#| ./programs/kernels.clbin
#| miss: never built, or no longer stored
#| compile cache: binaries that oclcc built
#|   entries                        1
#|   finished bundles               1
#|   hits                           0
#|   misses                         1
#|   stored                         1
#|   evicted to make room           0
#|   removed because damaged or rejected  0
#| exit 3
# expected errors:
#| oclcc: error: the cache directory '*/work/home' is not used: other users may write to it (mode 0777)

### failures
# Failed compiles are not cached. --keep-going caches the successful ones. -Werror applies to hits.
echo 'kernel void good(global int* a) { *a = 1; }' > good.cl
echo 'kernel void bad(global int* a) { *a = x; }' > bad.cl
for n in 1 2; do
  oclcc --keep-going -v good.cl bad.cl -o both.clbin 2> "log$n"; echo "exit $?"
  grep 'compile cache: ' "log$n" | sed 's/.* · \(.*\): compile cache: /\1: /' | sort -u
  grep -c "bad.cl:1:39: error: use of undeclared identifier 'x'" "log$n"
done
echo '#warning careful
kernel void k(global int* a) { *a = 1; }' > k.cl
for n in 1 2; do
  oclcc -Werror k.cl 2> "werror$n"; echo "exit $?"
done
cmp werror1 werror2
grep -c '^k.cl:1:2: error: careful' werror2
# expected output:
#| exit 1
#| bad.cl: miss: never built, or no longer stored
#| good.cl: miss: never built, or no longer stored
#| 1
#| exit 1
#| bad.cl: miss: never built, or no longer stored
#| good.cl: hit
#| 1
#| exit 1
#| exit 1
#| 1

### hit
# The second run builds nothing, writes the same bytes and prints the same warnings.
echo '#warning careful
kernel void k(global int* a) { *a = 1; }
kernel void l(local float4* b, read_only image2d_t c) { b[0] = 2; }' > k.cl
options=(-cl-mad-enable --variant one=-DX=1 --variant two=)
oclcc k.cl "${options[@]}" --no-cache -o built.clbin 2> built
oclcc k.cl "${options[@]}" -o first.clbin 2> first
oclcc k.cl "${options[@]}" -o second.clbin -v 2> verbose
oclcc k.cl "${options[@]}" -o third.clbin -j1 2> third
grep -c 'compile cache: hit$' verbose | grep -v "^$((2 * device_count))$"
grep 'compile cache: miss' verbose
grep '^bundle: ' verbose
for n in first second third; do cmp built.clbin $n.clbin; done
cmp built first
cmp built third
# Each device alone, also into a raw binary.
for device in $devices; do
  oclcc k.cl -cl-mad-enable -DX=1 --device "$device" -o k.bin -v 2>&1 | grep 'compile cache: ' | grep -v 'hit$'
  [ -s k.bin ] || echo "$device: no binary"
done
true
# expected output:
#| bundle: from the compile cache

### killed
# Killing oclcc at any moment leaves no partial entry, and later runs do not block.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --no-cache k.cl -o built.clbin
for tenths in 1 2 3 4 5 6 7; do
  # In a separate shell, which reports the killed process.
  (timeout -s KILL "0.$tenths" oclcc k.cl -o killed.clbin; true) > /dev/null 2>&1
  for entry in "$XDG_CACHE_HOME"/clbin/compilations/*.clbin; do
    [ ! -e "$entry" ] || oclcc --info -v "$entry" > /dev/null || echo "$entry after 0.$tenths s"
  done
done
oclcc k.cl -o after.clbin; echo "exit $?"
cmp built.clbin after.clbin
oclcc -v k.cl 2>&1 | grep -c 'compile cache: hit' | grep -v "^$device_count$"
true
# expected output:
#| exit 0

### no_cache
# --no-cache neither reads nor writes the cache.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
why --no-cache
ls -A "$XDG_CACHE_HOME"
why
why --no-cache
why
# expected output:
#| off: --no-cache was given
#| miss: never built, or no longer stored
#| off: --no-cache was given
#| hit

### remote_settings
# Wrong settings of the remote cache are reported with their places, and cost nothing else. No plan
# contains the token.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
export CLBIN_REMOTE_TOKEN=sesame
mkdir -p "$HOME/.config/clbin"
oclcc --plan=json k.cl -o k.clbin -q | grep sesame
grep -r sesame k.plan
printf '# the team\nremote = ftp://cache.example\nremot = x\n' > "$HOME/.config/clbin/oclcc.conf"
oclcc k.cl -o k.clbin
oclcc k.cl -o k.clbin -q
oclcc k.cl -o k.clbin -v 2>&1 | grep '^remote cache: '
CLBIN_REMOTE='http://me:password@cache.example/' oclcc k.cl -o k.clbin --no-cache
# A comment that hides lines, for some editors, and pipes that nobody writes to.
printf '# the team\rremote-public-key = team.pub\rremote-token = sesame\r' > "$HOME/.config/clbin/oclcc.conf"
CLBIN_REMOTE=http://cache.example oclcc k.cl -o k.clbin
rm "$HOME/.config/clbin/oclcc.conf"
mkfifo "$HOME/.config/clbin/oclcc.conf"
CLBIN_REMOTE=http://cache.example timeout 60 oclcc k.cl -o k.clbin || echo "exit $?"
rm "$HOME/.config/clbin/oclcc.conf"
mkfifo token
CLBIN_REMOTE=http://cache.example CLBIN_REMOTE_TOKEN='' CLBIN_REMOTE_TOKEN_FILE=token timeout 60 oclcc k.cl -o k.clbin ||
  echo "exit $?"
CLBIN_REMOTE='http://me:password@cache.example/' oclcc k.cl -o k.clbin
CLBIN_REMOTE=0 oclcc k.cl -o k.clbin -v 2>&1 | grep '^remote cache: '
oclcc k.cl -o k.clbin -v 2>&1 | grep '^remote cache: '
true
# expected output:
#| remote cache: off: a setting is wrong
#| remote cache: off: CLBIN_REMOTE is 0
# expected errors:
#| oclcc: warning: remote cache: */home/.config/clbin/oclcc.conf:2: expected 'http://HOST:PORT/PATH' or 'https://…'
#| oclcc: warning: remote cache: */home/.config/clbin/oclcc.conf:3: unknown setting 'remot'
#| oclcc: warning: remote cache: */home/.config/clbin/oclcc.conf:1: the line contains the control character U+000D
#| oclcc: warning: remote cache: cannot read '*/home/.config/clbin/oclcc.conf': not a regular file
#| oclcc: warning: remote cache: CLBIN_REMOTE_TOKEN_FILE: 'token': a token consists of 1 to 4096 visible ASCII characters
#| oclcc: warning: remote cache: CLBIN_REMOTE: a user and a password do not belong in the address, which others can see: use a token or a netrc file

### two_at_once
# Many oclcc compile one program at once. Each writes the whole bundle, and each unit is built once.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
for n in 1 2 3 4; do
  oclcc -v k.cl -o "$n.clbin" 2> "log$n" &
done
wait
for n in 2 3 4; do cmp 1.clbin "$n.clbin"; done
cat log? | grep -c 'compile cache: .*hit' | grep -v "^$((3 * device_count))$"
find "$XDG_CACHE_HOME/clbin/compilations" -name '*.clbin' | wc -l | grep -v "^$device_count$"
find "$XDG_CACHE_HOME/clbin/compilations" -name '*.new' -o -name '*.lock'
true

### unusable
# An unusable cache costs one warning, and nothing else.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
echo 'kernel void l(global int* a) { *a = 2; }' > l.cl
try() { rm -f b.clbin; "$@" oclcc k.cl l.cl -o b.clbin; echo "exit $?"; ls b.clbin; }
mkdir open
chmod 0777 open
try env CLBIN_CACHE_DIR="$PWD/open"
ls -A open
touch file
try env CLBIN_CACHE_DIR="$PWD/file"
try env CLBIN_CACHE_DIR=/proc/none/clbin
try env -u HOME -u XDG_CACHE_HOME
CLBIN_CACHE_DIR="$PWD/open" oclcc -q k.cl -o b.clbin; echo "exit $?"
# expected output:
#| exit 0
#| b.clbin
#| exit 0
#| b.clbin
#| exit 0
#| b.clbin
#| exit 0
#| b.clbin
#| exit 0
# expected errors:
#| oclcc: warning: the cache directory '*/open' is not used: other users may write to it (mode 0777)
#| oclcc: warning: cannot open the cache directory '*/file': Not a directory
#| oclcc: warning: cannot create the cache directory '/proc/none/clbin': No such file or directory
#| oclcc: warning: the cache is not used: HOME is not set

### variables
# CLBIN_CACHE_DIR takes precedence over XDG_CACHE_HOME, and that over HOME. Also tests CLBIN_CACHE=0
# and CLBIN_CACHE_MAX_SIZE.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
CLBIN_CACHE=0 why
ls -A "$XDG_CACHE_HOME"
why
ls "$XDG_CACHE_HOME/clbin"
CLBIN_CACHE_DIR=here why
CLBIN_CACHE_DIR=here why
stat -c '%A %n' here here/*
XDG_CACHE_HOME='' why
ls -A "$HOME/.cache"
CLBIN_CACHE_DIR=none CLBIN_CACHE_MAX_SIZE=0 why
CLBIN_CACHE_DIR=none CLBIN_CACHE_MAX_SIZE=0 why
ls none/compilations
CLBIN_CACHE_MAX_SIZE=much oclcc --device "$device" k.cl
# expected output:
#| off: CLBIN_CACHE is 0
#| miss: never built, or no longer stored
#| CACHEDIR.TAG
#| compilations
#| miss: never built, or no longer stored
#| hit
#| drwx------ here
#| -rw------- here/CACHEDIR.TAG
#| drwx------ here/compilations
#| miss: never built, or no longer stored
#| clbin
#| miss: never built, or no longer stored
#| miss: never built, or no longer stored
#| counters
# expected errors:
#| oclcc: warning: CLBIN_CACHE_MAX_SIZE 'much' is not a size such as 512M

### why_missed
# -v names the ingredient that differs from the previous build.
mkdir one two
echo '#define T 1' > two/tile.h
echo '#include <tile.h>
kernel void k(global int* a) { *a = T; }' > k.cl
why -I one -I two
why -I one -I two
echo '#define T 2' > two/tile.h
why -I one -I two
echo '#define T 3' > one/tile.h
why -I one -I two
why -I one
why -I one -DX=1 -DY=2
why -I one -DY=2 -DX=1
echo >> k.cl
why -I one -DY=2 -DX=1
LD_LIBRARY_PATH=$PWD why -I one -DY=2 -DX=1
why -I one -DY=2 -DX=1
# expected output:
#| miss: never built, or no longer stored
#| hit
#| miss: header 'tile.h' changed
#| miss: header 'tile.h' changed
#| hit
#| miss: options changed from '' to '-DX=1 -DY=2'
#| miss: options changed from '-DX=1 -DY=2' to '-DY=2 -DX=1'
#| miss: source changed
#| miss: environment variable LD_LIBRARY_PATH is new
#| hit
