#!/bin/bash
# Messages of a recording name the program, whose name is a digest, and its first kernel: the sources
# of all recorded programs have one name. clang 17 and later write "expanded from macro 'N'".
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs spirv:1.2
exec 2> >(sed "s/expanded from macro 'N'/expanded from here/" >&2)
name=$(printf '%064d' 12)
cat > k.cl << 'END'
#warning careful
kernel void scale(global float* a) {
  a[0] *= N;
}
END
make_bundle recording k.cl "$name" default -DN=2 'scale zoom' cpu-a '' app.clbin
echo "== a warning"
oclcc app.clbin --target spirv:1.2 -o new.clbin; echo "exit $?"
echo "== an error"
make_bundle recording k.cl "$name" default -DN=M 'scale zoom' cpu-a '' app.clbin
oclcc app.clbin --target spirv:1.2 -o new.clbin; echo "exit $?"
echo "== in JSON"
oclcc app.clbin --target spirv:1.2 -o new.clbin --diagnostics-format=json 2>&1 | grep -o '"file": *"[^"]*"' | sort -u
echo "== optional"
oclcc app.clbin --target spirv:1.2 --optional "$name" -o new.clbin; echo "exit $?"
echo "== a program with a name, and one of which no build is recorded"
make_bundle recording k.cl scale default -DN=M 'scale zoom' cpu-a '' named.clbin
oclcc named.clbin --target spirv:1.2 -o new.clbin
make_bundle recording k.cl "$name" default -DN=M '' - '' app.clbin
oclcc app.clbin --target spirv:1.2 -o new.clbin
# expected exit status: 1
# expected output:
#| == a warning
#| exit 0
#| == an error
#| exit 1
#| == in JSON
#| "file": "<command line>"
#| "file": "app.clbin: program '0000000000000000000000000000000000000000000000000000000000000012' (kernel 'scale')"
#| == optional
#| exit 0
#| == a program with a name, and one of which no build is recorded
# expected errors:
#| app.clbin: program '0000000000000000000000000000000000000000000000000000000000000012' (kernel 'scale'):1:2: warning: careful [-W#warnings]
#|     1 | #warning careful
#|       |  ^
#| app.clbin: program '0000000000000000000000000000000000000000000000000000000000000012' (kernel 'scale'):1:2: warning: careful [-W#warnings]
#|     1 | #warning careful
#|       |  ^
#| app.clbin: program '0000000000000000000000000000000000000000000000000000000000000012' (kernel 'scale'):3:11: error: use of undeclared identifier 'M'
#|     3 |   a[0] *= N;
#|       |           ^
#| <command line>:2:11: note: expanded from here
#|     2 | #define N M
#|       |           ^
#| app.clbin: program '0000000000000000000000000000000000000000000000000000000000000012' (kernel 'scale'): warning: optional program '0000000000000000000000000000000000000000000000000000000000000012' does not compile: it is built from source when it is loaded [on 'spirv:1.2']
#| app.clbin: program '0000000000000000000000000000000000000000000000000000000000000012' (kernel 'scale'):3:11: note: use of undeclared identifier 'M'
#|     3 |   a[0] *= N;
#|       |           ^
#| named.clbin: program 'scale':1:2: warning: careful [-W#warnings]
#|     1 | #warning careful
#|       |  ^
#| named.clbin: program 'scale':3:11: error: use of undeclared identifier 'M'
#|     3 |   a[0] *= N;
#|       |           ^
#| <command line>:2:11: note: expanded from here
#|     2 | #define N M
#|       |           ^
#| app.clbin: program '0000000000000000000000000000000000000000000000000000000000000012' (kernel 'scale'):1:2: warning: careful [-W#warnings]
#|     1 | #warning careful
#|       |  ^
#| app.clbin: program '0000000000000000000000000000000000000000000000000000000000000012' (kernel 'scale'):3:11: error: use of undeclared identifier 'M'
#|     3 |   a[0] *= N;
#|       |           ^
#| <command line>:2:11: note: expanded from here
#|     2 | #define N M
#|       |           ^
