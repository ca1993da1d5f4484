#!/bin/bash
# Tests of --compile-commands.

### written
# Has an entry for each source, with clang's spelling of its options, and compiles nothing.
mkdir "a folder" && touch "a folder/k.cl" b.cl
oclcc --compile-commands "a folder/k.cl" ./b.cl -I inc -include first.h -DX="a b" -cl-std=CL3.1 \
  -cl-nv-verbose --variant fast='-cl-fast-relaxed-math' --variant slow=-DSLOW --target amdgcn:gfx900
ls
sed "s|$PWD|HERE|" compile_commands.json
# expected output:
#| a folder
#| b.cl
#| compile_commands.json
#| [
#|   {
#|     "arguments": [
#|       "clang",
#|       "-x",
#|       "cl",
#|       "--target=amdgcn-amd-amdhsa",
#|       "-mcpu=gfx900",
#|       "-nogpulib",
#|       "-DX=a b",
#|       "-cl-std=CL3.0",
#|       "-cl-fast-relaxed-math",
#|       "-Iinc",
#|       "-include",
#|       "first.h",
#|       "HERE/a folder/k.cl"
#|     ],
#|     "directory": "HERE",
#|     "file": "HERE/a folder/k.cl"
#|   },
#|   {
#|     "arguments": [
#|       "clang",
#|       "-x",
#|       "cl",
#|       "--target=amdgcn-amd-amdhsa",
#|       "-mcpu=gfx900",
#|       "-nogpulib",
#|       "-DX=a b",
#|       "-cl-std=CL3.0",
#|       "-cl-fast-relaxed-math",
#|       "-Iinc",
#|       "-include",
#|       "first.h",
#|       "HERE/b.cl"
#|     ],
#|     "directory": "HERE",
#|     "file": "HERE/b.cl"
#|   }
#| ]

### merged
# Keeps what the file contains for other sources, replaces the entries of the same ones, and leaves
# a file that would not change as it is.
touch a.cl b.cl c.cl
echo '[{"file": "main.c", "command": "cc main.c", "directory": "/src"}, 7]' > all.json
oclcc --compile-commands=all.json a.cl b.cl
oclcc --compile-commands=all.json -DNEW ../"$(basename "$PWD")"/b.cl c.cl
sed "s|$PWD|HERE|" all.json | grep '"file"\|-DNEW\|7'
touch -d 2020-01-01 all.json
oclcc --compile-commands=all.json -DNEW b.cl c.cl
stat -c %y all.json | cut -c1-10
# expected output:
#|     "file": "main.c"
#|   7,
#|     "file": "HERE/a.cl"
#|       "-DNEW",
#|     "file": "HERE/b.cl"
#|       "-DNEW",
#|     "file": "HERE/c.cl"
#| 2020-01-01

### concurrent
# Processes of one build lose no entry, and leave no other file.
for i in $(seq 20); do
  touch "k$i.cl"
  oclcc --compile-commands "k$i.cl" &
done
wait
grep -c '"file"' compile_commands.json
find . -type f ! -name '*.cl'
# expected output:
#| 20
#| ./compile_commands.json

### refused
# What is not a list of commands is not replaced.
touch k.cl
echo '{"compile": "commands"}' > object.json
echo 'int main(void) { return 0; }' > main.c
cp main.c before.c
oclcc --compile-commands=object.json k.cl; echo "exit $?"
oclcc --compile-commands=main.c k.cl; echo "exit $?"
cmp main.c before.c
oclcc --compile-commands=k.cl k.cl; echo "exit $?"
oclcc --compile-commands=/nonexistent/c.json k.cl; echo "exit $?"
oclcc --compile-commands --target nvptx:sm_1 k.cl; echo "exit $?"
oclcc --compile-commands - < k.cl; echo "exit $?"
make_bundle sample s.clbin
oclcc --compile-commands s.clbin -o t.clbin; echo "exit $?"
# expected output:
#| exit 2
#| exit 4
#| exit 2
#| exit 3
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: 'object.json' is not a list of commands
#| oclcc: error: main.c: not valid JSON at byte 1
#| oclcc: error: 'k.cl' is both an input and the output
#| oclcc: error: cannot write '/nonexistent/c.json': No such file or directory
#| oclcc: error: '--target nvptx:sm_1': the family 'nvptx' has no such target; --list-targets lists them
#| oclcc: error: '--compile-commands' requires files: standard input has no name
#| oclcc: error: '--compile-commands' cannot be used with 's.clbin', which is a bundle: its programs are built as they were recorded
#| oclcc: note: to see its contents: oclcc --info s.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it

### clang
# clang itself understands the commands: it finds the errors of a source, and no others.
clang=$(command -v clang-15 || command -v clang-19 || command -v clang) || { echo "no clang"; exit 77; }
cat > good.cl <<'END'
#include "size.h"
kernel void good(global float* a) { a[get_global_id(0)] = sin(a[0]) + SIZE + MORE; }
END
mkdir inc && echo '#define SIZE 4' > inc/size.h
echo 'kernel void bad(global float* a) { a[0] = missing; }' > bad.cl
for target in nvptx:sm_70 amdgcn:gfx900 spirv:1.2 spirv:1.2:32 intel:tgllp; do
  oclcc --compile-commands=c.json --target "$target" -DMORE=2 -I inc good.cl bad.cl
  python3 - "$clang" <<'END'
import json, subprocess, sys
for entry in json.load(open("c.json")):
    words = [sys.argv[1], *entry["arguments"][1:-1], "-fsyntax-only", entry["arguments"][-1]]
    run = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True)
    errors = [line for line in run.stderr.splitlines() if "error:" in line or "warning:" in line]
    print(run.returncode, *[line.rsplit("/", 1)[-1] for line in errors])
END
done
# expected output:
#| 0
#| 1 bad.cl:1:43: error: use of undeclared identifier 'missing'
#| 0
#| 1 bad.cl:1:43: error: use of undeclared identifier 'missing'
#| 0
#| 1 bad.cl:1:43: error: use of undeclared identifier 'missing'
#| 0
#| 1 bad.cl:1:43: error: use of undeclared identifier 'missing'
#| 0
#| 1 bad.cl:1:43: error: use of undeclared identifier 'missing'

### own_header
# clang finds the header that an installed oclcc contains.
clang=$(command -v clang-15 || command -v clang-19 || command -v clang) || { echo "no clang"; exit 77; }
mkdir -p prefix/bin prefix/include/clbin
cp "$(command -v oclcc)" prefix/bin
cp "$ROOT/libclbin/include/clbin/matrix.clh" prefix/include/clbin
for target in nvptx:sm_70 amdgcn:gfx90a spirv:1.2; do
  prefix/bin/oclcc --compile-commands=c.json --target "$target" "$ROOT/kernels/hgemm.cl"
  python3 - "$clang" <<'END'
import json, subprocess, sys
for entry in json.load(open("c.json")):
    words = [sys.argv[1], *entry["arguments"][1:-1], "-fsyntax-only", entry["arguments"][-1]]
    print(subprocess.run(words, cwd=entry["directory"]).returncode)
END
done
# expected output:
#| 0
#| 0
#| 0
