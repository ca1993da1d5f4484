#!/bin/bash
# file(1), with the project's magic, recognizes a bundle and its version.
command -v file > /dev/null || { echo "there is no file(1)"; exit 77; }
make_bundle sample s.clbin
make_bundle newer n.clbin
echo text > t
file -b -m "$ROOT/oclcc/magic/clbin.magic" s.clbin n.clbin
file -b --mime-type -m "$ROOT/oclcc/magic/clbin.magic" s.clbin
file -b -m "$ROOT/oclcc/magic/clbin.magic" t | grep -c bundle
[ "$(stat -c %s s.clbin)" = "$(file -b -m "$ROOT/oclcc/magic/clbin.magic" s.clbin | grep -oE '[0-9]+ bytes' | cut -d' ' -f1)" ] && echo "its size"
# expected output:
#| OpenCL kernel bundle (clbin) version 1.0, 3816 bytes
#| OpenCL kernel bundle (clbin) version 2.0, 3816 bytes
#| application/x-clbin
#| 0
#| its size
