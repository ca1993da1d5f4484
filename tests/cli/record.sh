#!/bin/bash
# Tests of --record, with an application that writes what the layer writes: ./app NAME [STATUS].
touch layer.so
export CLBIN_LAYER_LIBRARY=layer.so
echo 'kernel void scale(global float* a) { a[0] *= N; }' > one.cl
echo 'kernel void fill(global int* a) { a[0] = 1; }' > two.cl
cat > app << 'END'
#!/bin/bash
# One build and its launches, in the directory that oclcc names.
cd "$CLBIN_LAYER_RECORD" || exit 9
source=$OLDPWD/$1.cl
[ "$CLBIN_LAYER_RECORD_SOURCE" = 1 ] || source=none
case $1 in
one) words=("$source" one default -DN=2 scale cpu-a '') ;;
two) words=("$source" two default '' fill cpu-a '') ;;
esac
make_bundle recording "${words[@]}" "$1-default-$$-0.clbin"
case $1 in
one) printf 'one default scale 1 64 1 1\none default scale 2 0 0 0\n' > "launches-$$.log" ;;
two) printf 'two default fill 2 16 4 1\n' > "launches-$$.log" ;;
esac
[ "${2:-0}" -gt 128 ] && kill -$(($2 - 128)) $$
exit "${2:-0}"
END
chmod +x app

### data
# --record-data passes a limit to the layer, adds the launches with data, and says what is left out;
# --info says that data are there, and --strip-data removes them.
cat > launches << 'END'
#!/bin/bash
./app one
cd "$CLBIN_LAYER_RECORD" || exit 9
echo "limit $CLBIN_LAYER_RECORD_DATA"
for i in 1 2; do # two processes of the same launch
  make_bundle data one default -DN=2 scale $i '' "one-default-$$-$i.clbin"
done
printf "the data of kernel 'fill' with %s work-items: it has a global offset\n" $(seq 20) > "omissions-$$.log"
END
chmod +x launches
oclcc --record plain.clbin -- ./launches 2> /dev/null | head -1
oclcc --record app.clbin --record-data=2K -- ./launches 2> errors
head -1 errors; tail -1 errors; wc -l < errors
oclcc --record app.clbin --record-data -- ./app one # keeps those of the run before
oclcc --verify app.clbin
oclcc --info app.clbin | grep '^  data'
oclcc --info -v app.clbin | grep '^  answer'
oclcc --info --json app.clbin | python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json"
oclcc --strip --strip-data app.clbin -o stripped.clbin
oclcc --info stripped.clbin | grep -c '^  data'
oclcc --strip --strip-answers app.clbin -o without.clbin
cmp stripped.clbin without.clbin
oclcc --record clean.clbin -- ./app one
cmp stripped.clbin clean.clbin
limited() { oclcc --record w.clbin "$@" -- ./app one; echo "exit $?"; }
limited --record-data=0
limited --record-data=2G
# expected output:
#| limit 0
#| limit 2048
#| oclcc: warning: not recorded: the data of kernel 'fill' with 1 work-items: it has a global offset
#| oclcc: warning: not recorded: the data of 4 more launches
#| 17
#|   data      1 launch of an application with 192 bytes of its data; '--strip-data' removes them
#|   answer    scale 16 with NULL, with the data of an application, by platform / device / 1
#| fits the schema
#| 0
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: '--record-data' accepts a size of at most 1G, such as 64M, not '0'
#| oclcc: error: '--record-data' accepts a size of at most 1G, such as 64M, not '2G'

### encrypted
# --record adds to an encrypted bundle only with its key, and encrypts the result.
oclcc --keygen c --key-type content
oclcc --keygen r --key-type recipient
record() { oclcc --record "$@"; echo "exit $?"; }
record plain.clbin -- ./app one
oclcc --encrypt --encrypt-key c.key --encrypt-for r.pub plain.clbin -o e.clbin
cp e.clbin before.clbin
record e.clbin -- echo not run
cmp e.clbin before.clbin
record e.clbin --decrypt-key missing.key -- echo not run
record e.clbin --decrypt-key r.key -- ./app two
record plain.clbin -- ./app two
oclcc --verify --decrypt-key c.key e.clbin; echo "exit $?"
oclcc --decrypt --decrypt-key r.key e.clbin && cmp e.clbin plain.clbin && echo 'the same recording'
record new.clbin --decrypt-key c.key -- ./app one # of no use here, but no mistake
record c.key --decrypt-key c.key -- echo not run
head -c 9 c.key; echo
# expected output:
#| exit 0
#| exit 4
#| exit 3
#| exit 0
#| exit 0
#| exit 0
#| the same recording
#| exit 0
#| exit 2
#| untrusted
# expected errors:
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: cannot open 'missing.key': No such file or directory
#| oclcc: error: 'c.key' is both an input and the output

### errors
# --record: what is wrong is found before the application runs, and its status is that of a shell.
try() {
  oclcc "$@"
  echo "exit $?"
}
make_bundle sample sample.clbin
head -c 300 sample.clbin > cut.clbin
try --record cut.clbin -- echo not run
try --record . -- echo not run
try --record none/app.clbin -- echo not run
try --record - -- echo not run
try --record app.clbin
try --record app.clbin --
try --record app.clbin -- ''
try --record app.clbin ./app one
try --record
try --record app.clbin --merge -- ./app one
try --record app.clbin -DX -- ./app one
try --record-binaries k.cl
try --record app.clbin -- ./no_such_command
try --record app.clbin -- ./one.cl
try --record app.clbin -- true
try --record app.clbin -- false
CLBIN_LAYER_LIBRARY=none.so try --record app.clbin -- echo not run
try --record=sample.clbin -- ./app one
oclcc --info -v sample.clbin | grep -E '^program|^  (source|built|launched)'
cp sample.clbin before.clbin
echo "== another source than the bundle has"
make_bundle recording two.cl one default -DN=2 scale cpu-a '' conflict.clbin
cp conflict.clbin before.clbin
try --record conflict.clbin -- ./app one
cmp conflict.clbin before.clbin
ls
# expected output:
#| exit 4
#| exit 3
#| exit 3
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 127
#| exit 126
#| exit 0
#| exit 1
#| exit 3
#| exit 0
#| program 'matmul', variant 'default'
#|   source    kept: 2 files, 78 bytes
#| program 'matmul', variant 'fast'
#|   source    kept: 2 files, 78 bytes
#| program 'one', variant 'default'
#|   source    kept: 1 file, 50 bytes
#|   built on  cpu-a (Portable Computing Language): scale
#|   launched  scale: 64, NULL in 2 dimensions
#| program 'reduce', variant 'default'
#|   source    not kept
#| == another source than the bundle has
#| exit 2
#| app
#| before.clbin
#| conflict.clbin
#| cut.clbin
#| layer.so
#| one.cl
#| sample.clbin
#| two.cl
# expected errors:
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 300 bytes are present
#| oclcc: error: cannot read '.': Is a directory
#| oclcc: error: cannot write 'none/app.clbin': No such file or directory
#| oclcc: error: '--record' requires a file, because the application may write to standard output
#| oclcc: error: '--record' requires a command: --record app.clbin -- COMMAND
#| oclcc: error: '--record' requires a command: --record app.clbin -- COMMAND
#| oclcc: error: '--record' requires a command: --record app.clbin -- COMMAND
#| oclcc: error: '--record' requires '--' before the command './app'
#| oclcc: error: option '--record' needs a value: --record BUNDLE
#| oclcc: error: '--merge' and '--record' cannot be used together
#| oclcc: error: '-D' cannot be used with '--record'
#| oclcc: error: '--record-binaries' needs '--record'
#| oclcc: error: cannot run './no_such_command': No such file or directory
#| oclcc: error: cannot run './one.cl': Permission denied
#| oclcc: warning: the application built no program: 'app.clbin' is not written
#| oclcc: note: it has not loaded the layer: it does not call OpenCL, is elevated (setuid, capabilities), or its ICD loader does not support OPENCL_LAYERS
#| oclcc: warning: the application built no program: 'app.clbin' is not written
#| oclcc: note: it has not loaded the layer: it does not call OpenCL, is elevated (setuid, capabilities), or its ICD loader does not support OPENCL_LAYERS
#| oclcc: error: CLBIN_LAYER_LIBRARY: there is no file 'none.so'
#| oclcc: error: conflict.clbin: program 'one' was recorded with another source

### garbage
# --record: files that no layer finished, or that are none of it, are skipped.
cat > half << 'END'
#!/bin/bash
./app one
cd "$CLBIN_LAYER_RECORD" || exit 9
good=$(echo one-*.clbin)
head -c 500 "$good" > cut-default-1-0.clbin
echo text > text-default-1-0.clbin
head -c 100 "$good" > .half.clbin.tmp
mkdir folder.clbin
mkfifo pipe.clbin
ln -s /etc/passwd link.clbin
make_bundle recording none one default -DN=3 scale cpu-a '' other-options.clbin
make_bundle recording "$OLDPWD/two.cl" one default -DN=2 scale cpu-a '' other-source.clbin
{
  echo 'one default scale 1 32 1 1'
  echo 'one default scale 4 32 1 1'
  echo 'one default scale 2 32 0 1'
  echo 'one default scale 1 -1 1 1'
  echo 'one default scale 1 99999999999999999999 1 1'
  echo 'one default scale 1 32 1'
  echo 'one default scale 1 32 1 1 1'
  echo 'one  scale 1 32 1 1'
  echo 'none default scale 1 32 1 1'
  echo 'one none scale 1 32 1 1'
  head -c 10000 /dev/zero
  echo
  printf 'one default scale 3 2 2 2\none default scale 1 128 1'
} > launches-1.log
END
chmod +x half
oclcc --record app.clbin -- ./half; echo "exit $?"
oclcc --verify app.clbin
oclcc --info -v app.clbin | grep -E '^program|^  (options|source|built|launched)'
# expected output:
#| exit 0
#| program 'one', variant 'default'
#|   options   -DN=2
#|   source    kept: 1 file, 50 bytes
#|   built on  cpu-a (Portable Computing Language): scale
#|   launched  scale: 32, 64, NULL in 2 dimensions, 2x2x2
# expected errors:
#| oclcc: warning: the recorded file '.half.clbin.tmp' is skipped: it is incomplete, or not a recording
#| oclcc: warning: the recorded file 'cut-default-1-0.clbin' is skipped: prefix: total_bytes is 1040, but only 500 bytes are present
#| oclcc: warning: the recorded file 'folder.clbin' is skipped: it is not a regular file
#| oclcc: warning: the recorded file 'link.clbin' is skipped: it is not a regular file
#| oclcc: warning: the recorded file 'other-options.clbin' is skipped: program 'one', variant 'default' was recorded with options '-DN=2', not '-DN=3'
#| oclcc: warning: the recorded file 'other-source.clbin' is skipped: program 'one' was recorded with another source
#| oclcc: warning: the recorded file 'pipe.clbin' is skipped: it is not a regular file
#| oclcc: warning: the recorded file 'text-default-1-0.clbin' is skipped: not a bundle: it starts with 74 65 78 74 0a
#| oclcc: warning: 11 lines of 'launches-1.log' are skipped: they are no launch of a recorded program

### no_program
# --record: what the layer wrote about the process says why nothing may have been recorded.
echo "== the layer was loaded"
oclcc --record app.clbin -- sh -c 'echo /lib/libOpenCL.so.1 > "$CLBIN_LAYER_RECORD/loaders-1.log"'
echo "== a second loader"
oclcc --record app.clbin -- sh -c \
  'printf "/lib/libOpenCL.so.1\n/py/libOpenCL-1.so\n" > "$CLBIN_LAYER_RECORD/loaders-1.log"'
echo "== linked programs"
oclcc --record app.clbin -- sh -c 'echo /lib/libOpenCL.so.1 > "$CLBIN_LAYER_RECORD/loaders-1.log"
  echo clLinkProgram > "$CLBIN_LAYER_RECORD/links-1.log"'
oclcc --record some.clbin -- sh -c './app one; echo clLinkProgram > "$CLBIN_LAYER_RECORD/links-1.log"'
echo "== garbage"
oclcc --record app.clbin -- sh -c ': > "$CLBIN_LAYER_RECORD/loaders-1.log"'
oclcc --record app.clbin -- sh -c 'printf "a\n\033[1m\nb" > "$CLBIN_LAYER_RECORD/loaders-1.log"'
ls app.clbin 2> /dev/null
# expected exit status: 2
# expected output:
#| == the layer was loaded
#| == a second loader
#| == linked programs
#| == garbage
# expected errors:
#| oclcc: warning: the application built no program: 'app.clbin' is not written
#| oclcc: note: it has called OpenCL, but may load binaries from a cache of its own, or from bundles that it adds: empty it, or switch it off
#| oclcc: warning: the application built no program: 'app.clbin' is not written
#| oclcc: note: it has a second OpenCL ICD loader, '/py/libOpenCL-1.so', and the layer does not see what is built through it
#| oclcc: warning: the application built no program: 'app.clbin' is not written
#| oclcc: note: it builds with clCompileProgram and clLinkProgram, which are not recorded: clBuildProgram and clbin_build are
#| oclcc: warning: the programs that the application links (clLinkProgram) are not recorded
#| oclcc: warning: the application built no program: 'app.clbin' is not written
#| oclcc: note: it has called OpenCL, but may load binaries from a cache of its own, or from bundles that it adds: empty it, or switch it off
#| oclcc: warning: the application built no program: 'app.clbin' is not written
#| oclcc: note: it has a second OpenCL ICD loader, '?[1m', and the layer does not see what is built through it

### paths
# --record warns once of each option with a path that only this machine has, but not of -I.
cat > paths << 'END'
#!/bin/bash
cd "$CLBIN_LAYER_RECORD" || exit 9
make_bundle recording "$OLDPWD/one.cl" one a "-DN=/ -I /usr -D P=/usr -DU=/usr/none" scale cpu-a '' 1.clbin
make_bundle recording "$OLDPWD/one.cl" one b '-D P=/usr -DQ="/usr/bin" -DX=a/b' scale cpu-a '' 2.clbin
END
chmod +x paths
oclcc --record app.clbin -- ./paths
# expected errors:
#| oclcc: warning: the build option '-DP=/usr' contains a path of this machine: where it differs, the recording serves none of its programs; pass directories with -I, not -D
#| oclcc: warning: the build option '-DQ=/usr/bin' contains a path of this machine: where it differs, the recording serves none of its programs; pass directories with -I, not -D

### runs
# --record: many runs are one bundle, whatever ended them.
echo "== one run"
oclcc --record app.clbin -- ./app one; echo "exit $?"
oclcc --info -v app.clbin | tail -n +3
oclcc --verify app.clbin
cp app.clbin first.clbin
echo "== the same run again"
oclcc --record app.clbin -- ./app one; echo "exit $?"
oclcc --diff app.clbin first.clbin
cmp app.clbin first.clbin
echo "== another run, which fails, and one that is killed"
oclcc --record app.clbin -- ./app two 7; echo "exit $?"
oclcc --record killed.clbin -- ./app two 137; echo "exit $?"
oclcc --info -v app.clbin killed.clbin | grep -E '^program|^  (source|built|launched)'
oclcc --verify app.clbin killed.clbin
echo "== without the source"
oclcc --record bare.clbin --no-source -- ./app one; echo "exit $?"
oclcc --info -v bare.clbin | grep -E '^program|^  (source|built|launched)'
echo "== the streams and words of the application are its own"
echo input | oclcc --record none.clbin -- sh -c 'cat; echo "$#:$1:$2:$3"; echo err >&2' name '' '@x' --help
echo "exit $?"
echo "== its variables"
export OPENCL_LAYERS=/other.so
oclcc -q --record none.clbin -- env | sed "s|$PWD|.|" | grep -E '^(OPENCL_LAYERS|CLBIN_LAYER_(MODE|RECORD_.*)|PYOPENCL_NO_CACHE)=' | sort
oclcc -q --record none.clbin --record-binaries --no-source -- env | grep '^CLBIN_LAYER_RECORD_' | sort
oclcc -q --record none.clbin -- sh -c 'ls -ld "$CLBIN_LAYER_RECORD"' | cut -c 1-10
folder=$(oclcc -q --record none.clbin -- sh -c 'echo "$CLBIN_LAYER_RECORD"')
[ ! -e "$folder" ] || echo "$folder is left"
ls
# expected output:
#| == one run
#| exit 0
#|
#| program 'one', variant 'default'
#|   options   -DN=2
#|   source    kept: 1 file, 50 bytes
#|   built on  cpu-a (Portable Computing Language): scale
#|   launched  scale: 64, NULL in 2 dimensions
#| == the same run again
#| exit 0
#| == another run, which fails, and one that is killed
#| exit 7
#| exit 137
#| program 'one', variant 'default'
#|   source    kept: 1 file, 50 bytes
#|   built on  cpu-a (Portable Computing Language): scale
#|   launched  scale: 64, NULL in 2 dimensions
#| program 'two', variant 'default'
#|   source    kept: 1 file, 46 bytes
#|   built on  cpu-a (Portable Computing Language): fill
#|   launched  fill: 16x4
#| program 'two', variant 'default'
#|   source    kept: 1 file, 46 bytes
#|   built on  cpu-a (Portable Computing Language): fill
#|   launched  fill: 16x4
#| == without the source
#| exit 0
#| program 'one', variant 'default'
#|   source    not kept
#|   built on  cpu-a (Portable Computing Language): scale
#|   launched  scale: 64, NULL in 2 dimensions
#| == the streams and words of the application are its own
#| input
#| 3::@x:--help
#| exit 0
#| == its variables
#| CLBIN_LAYER_MODE=record
#| CLBIN_LAYER_RECORD_BINARIES=0
#| CLBIN_LAYER_RECORD_DATA=0
#| CLBIN_LAYER_RECORD_SOURCE=1
#| OPENCL_LAYERS=/other.so:./layer.so
#| PYOPENCL_NO_CACHE=1
#| CLBIN_LAYER_RECORD_BINARIES=1
#| CLBIN_LAYER_RECORD_DATA=0
#| CLBIN_LAYER_RECORD_SOURCE=0
#| drwx------
#| app
#| app.clbin
#| bare.clbin
#| first.clbin
#| killed.clbin
#| layer.so
#| one.cl
#| two.cl
# expected errors:
#| oclcc: note: signal 9 (Killed) ended the application: what it had built is recorded
#| err
#| oclcc: warning: the application built no program: 'none.clbin' is not written
#| oclcc: note: it has not loaded the layer: it does not call OpenCL, is elevated (setuid, capabilities), or its ICD loader does not support OPENCL_LAYERS

### signals
# --record: signals reach the application, and what it built is recorded.
cat > waits << 'END'
#!/bin/bash
./app one
trap 'echo "got $NAME"; exit 3' "$1"
NAME=$1
touch ready
while :; do sleep 0.05; done
END
chmod +x waits
for signal in INT TERM HUP QUIT USR1 USR2; do
  rm -f ready
  # A background process of a script ignores SIGINT and SIGQUIT, unless job control is on.
  set -m
  oclcc -q --record $signal.clbin -- ./waits $signal &
  set +m
  until [ -e ready ]; do sleep 0.05; done
  kill -$signal $!
  wait $!
  echo "exit $?"
  oclcc --verify $signal.clbin
done
echo "== an application that the signal kills"
rm ready
set -m
oclcc --record killed.clbin -- sh -c './app one; touch ready; exec sleep 600' &
set +m
until [ -e ready ]; do sleep 0.05; done
kill -TERM $!
wait $!
echo "exit $?"
oclcc --info -v killed.clbin | grep '^program'
# expected output:
#| got INT
#| exit 3
#| got TERM
#| exit 3
#| got HUP
#| exit 3
#| got QUIT
#| exit 3
#| got USR1
#| exit 3
#| got USR2
#| exit 3
#| == an application that the signal kills
#| exit 143
#| program 'one', variant 'default'
# expected errors:
#| oclcc: note: signal 15 (Terminated) ended the application: what it had built is recorded

### zero_bytes
# --record: a source with a zero byte that is not at its end is recorded with a warning, and is not
# compiled: compilers differ in what they read of it.
printf '#define N 2\n\0kernel void scale(global float* a) { a[0] *= N; }\n' > one.cl
echo 'kernel void clock(global int* a) { a[0] = sizeof(__TIME__); }' > two.cl
oclcc --record app.clbin -- ./app one; echo "exit $?"
oclcc app.clbin --target nvptx:sm_70 -o compiled.clbin; echo "exit $?"
ls compiled.clbin 2>/dev/null
echo "== another source that cannot be identified"
oclcc --record clock.clbin -- ./app two; echo "exit $?"
# expected output:
#| exit 0
#| exit 2
#| == another source that cannot be identified
#| exit 0
# expected errors:
#| oclcc: warning: program 'one' (kernel 'scale') is recorded, but no bundle serves it: source:2: it contains a zero byte
#| oclcc: warning: app.clbin: program 'one' is not built, and its entries are kept: its source contains a zero byte, which compilers read in different ways
#| oclcc: error: app.clbin: no program of it can be built
#| oclcc: warning: program 'two' (kernel 'clock') is recorded, but no bundle serves it: source:1: __TIME__ changes with every build

### warm
# --warm has PoCL compile the launches that a recording has seen.
oclcc --list-devices | grep -q Portable || { echo "there is no PoCL"; exit 77; }
oclcc -q --record r.clbin -- ./app one
oclcc --warm --device Portable r.clbin | sed 's/.*: //'
grep -q "/scale/64-1-1" "$XDG_CACHE_HOME"/clbin/programs/*.clbin && echo "the launch is compiled"
# expected output:
#| 0 from the bundle, 0 from the user cache, 1 built
#| the launch is compiled
