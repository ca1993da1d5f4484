#!/bin/bash
# Tests of --strip.
make_bundle sample s.clbin
# Prints the programs and targets of a bundle.
left() { oclcc --info -v "$1" | grep -E "^program|^    (target|device)"; }

### drop_all
# Keeps only source, and nothing of programs without source.
oclcc --strip --drop-target "*" s.clbin -o b.clbin
oclcc --info -v b.clbin | grep -v digest
# expected output:
#| b.clbin: bundle of format 1.0, 0 entries, 936 bytes
#|
#| program 'matmul', variant 'default'
#|   options   none
#|   source    kept: 2 files, 78 bytes
#|
#| program 'matmul', variant 'fast'
#|   options   -cl-fast-relaxed-math
#|   source    kept: 2 files, 78 bytes
# expected errors:
#| oclcc: note: b.clbin: program 'reduce' is empty and was removed

### drop_targets
# Removes entries by pattern. The result is a valid bundle.
oclcc --strip --drop-target "nvptx:*" s.clbin -o b.clbin; echo "exit $?"
left b.clbin
oclcc --strip --drop-target CPU s.clbin -o b.clbin; echo "exit $?"
left b.clbin
oclcc --strip --drop-target "sm_[57]0" --drop-target cpu-a s.clbin -o b.clbin; echo "exit $?"
left b.clbin
oclcc --strip --drop-target sm_7 s.clbin -o b.clbin; echo "exit $?"
cmp s.clbin b.clbin
# expected output:
#| exit 0
#| program 'matmul', variant 'default'
#|     device    cpu-a
#| program 'matmul', variant 'fast'
#|     device    cpu-a
#| program 'reduce', variant 'default'
#|     device    cpu-b
#| exit 0
#| program 'matmul', variant 'default'
#|     target    nvptx:sm_50
#|     target    nvptx:sm_70
#| program 'matmul', variant 'fast'
#|     target    nvptx:sm_70
#| program 'reduce', variant 'default'
#|     target    nvptx:sm_80
#| exit 0
#| program 'matmul', variant 'default'
#| program 'matmul', variant 'fast'
#| program 'reduce', variant 'default'
#|     target    nvptx:sm_80
#|     device    cpu-b
#| exit 0
# expected errors:
#| oclcc: warning: s.clbin: no target matches 'sm_7'; there are 'cpu-a' (Portable Computing Language), 'cpu-b' (Portable Computing Language), 'nvptx:sm_50', 'nvptx:sm_70', 'nvptx:sm_80'

### everything
# Stripping everything is an error, and does not change the file.
cp s.clbin before.clbin
oclcc --strip --drop-target "*" --strip-source s.clbin; echo "exit $?"
oclcc --strip --keep-target nothing --strip-source s.clbin -o b.clbin; echo "exit $?"
ls
cmp s.clbin before.clbin
# expected output:
#| exit 2
#| exit 2
#| before.clbin
#| s.clbin
# expected errors:
#| oclcc: error: s.clbin: nothing would remain: no program would have source or an entry
#| oclcc: warning: s.clbin: no target matches 'nothing'; there are 'cpu-a' (Portable Computing Language), 'cpu-b' (Portable Computing Language), 'nvptx:sm_50', 'nvptx:sm_70', 'nvptx:sm_80'
#| oclcc: error: s.clbin: nothing would remain: no program would have source or an entry

### hidden
# A payload that others are compressed against is kept, and a message says so. repack removes it.
oclcc --strip --drop-target sm_50 --drop-target sm_80 s.clbin -o b.clbin; echo "exit $?"
oclcc -q --strip --drop-target sm_50 --drop-target sm_80 s.clbin -o quiet.clbin
cmp b.clbin quiet.clbin
# expected output:
#| exit 0
# expected errors:
#| oclcc: note: b.clbin: 1 removed payload remains hidden in it (203 bytes), because 1 kept payload is compressed against it; '--repack' removes it

### in_place
# Without -o, the bundle itself is replaced, as with strip(1). A link and the permissions are kept.
cp s.clbin t.clbin
chmod 640 s.clbin
ln -s s.clbin link.clbin
oclcc --strip --drop-target nvptx link.clbin t.clbin; echo "exit $?"
cmp s.clbin t.clbin
oclcc --strip --drop-target cpu-b s.clbin -o s.clbin; echo "exit $?"
[ -L link.clbin ] && stat -c %a s.clbin
oclcc --info -v s.clbin | grep -c "^  entry"
oclcc --strip --strip-source - -o - < t.clbin > piped.clbin; echo "exit $?"
oclcc --info -v piped.clbin | grep "  source"
# expected output:
#| exit 0
#| exit 0
#| 640
#| 2
#| exit 0
#|   source    not kept
#|   source    not kept
#|   source    not kept
# expected errors:
#| oclcc: note: s.clbin: program 'reduce' is empty and was removed

### keep_targets
# With both options, keeps the entries that match the first option but not the second.
oclcc -q --strip --keep-target nvptx s.clbin -o b.clbin; echo "exit $?"
left b.clbin
oclcc -q --strip --keep-target nvptx:sm_80 --keep-target Portable --drop-target "*-b" s.clbin -o b.clbin
left b.clbin
# expected output:
#| exit 0
#| program 'matmul', variant 'default'
#|     target    nvptx:sm_50
#|     target    nvptx:sm_70
#| program 'matmul', variant 'fast'
#|     target    nvptx:sm_70
#| program 'reduce', variant 'default'
#|     target    nvptx:sm_80
#| program 'matmul', variant 'default'
#|     device    cpu-a
#| program 'matmul', variant 'fast'
#|     device    cpu-a
#| program 'reduce', variant 'default'
#|     target    nvptx:sm_80

### refused
head -c 300 s.clbin > cut.clbin
echo no > text
mkdir folder
oclcc --strip s.clbin; echo "exit $?"
oclcc --strip --strip-source; echo "exit $?"
oclcc --strip --strip-source s.clbin s.clbin -o b.clbin; echo "exit $?"
oclcc --strip --strip-source - < s.clbin; echo "exit $?"
oclcc --strip --strip-source missing.clbin s.clbin; echo "exit $?"
oclcc --info -v s.clbin | grep "  source"
oclcc --strip --strip-source cut.clbin -o b.clbin; echo "exit $?"
oclcc --strip --strip-source text -o b.clbin; echo "exit $?"
oclcc --strip --drop-target nvptx s.clbin -o folder; echo "exit $?"
oclcc --strip --strip-source folder -o b.clbin; echo "exit $?"
cp s.clbin t.clbin
oclcc --strip --drop-target cpu t.clbin t.clbin; echo "exit $?" # the second time, none is left
oclcc --strip --drop-target nvptx s.clbin -o no/such/folder; echo "exit $?"
oclcc --strip --device gpu s.clbin; echo "exit $?"
oclcc --drop-target nvptx a.cl; echo "exit $?"
ls
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 3
#|   source    not kept
#|   source    not kept
#|   source    not kept
#| exit 4
#| exit 4
#| exit 3
#| exit 3
#| exit 0
#| exit 3
#| exit 2
#| exit 2
#| cut.clbin
#| folder
#| s.clbin
#| t.clbin
#| text
# expected errors:
#| oclcc: error: '--strip' needs '--keep-target', '--drop-target', '--prune', '--strip-source', '--strip-reflection', '--strip-measurements', '--strip-answers' or '--strip-data'
#| oclcc: error: '--strip' needs a bundle
#| oclcc: error: '-o' accepts the output of '--strip' for one bundle, but 2 are given
#| oclcc: error: '--strip' cannot replace standard input: name an output with '-o'
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 300 bytes are present
#| oclcc: error: text: not a bundle: it starts with 6e 6f 0a
#| oclcc: error: cannot write 'folder': Is a directory
#| oclcc: error: cannot read 'folder': Is a directory
#| oclcc: warning: t.clbin: no target matches 'cpu'; there are 'nvptx:sm_50', 'nvptx:sm_70', 'nvptx:sm_80'
#| oclcc: error: cannot write 'no/such/folder': No such file or directory
#| oclcc: error: '--device' cannot be used with '--strip'
#| oclcc: error: '--drop-target' needs *'--strip'

### source_and_reflection
oclcc --strip --strip-source --strip-reflection s.clbin -o b.clbin
oclcc --info -v b.clbin | grep -E "source|kernel"
grep -q TILE b.clbin || echo 'no source text'
# expected output:
#|   source    not kept
#|     kernel    add(...)
#|     kernel    multiply(...)
#|     kernel    add(...)
#|     kernel    multiply(...)
#|     kernel    add(...)
#|     kernel    multiply(...)
#|   source    not kept
#|     kernel    add(...)
#|     kernel    multiply(...)
#|     kernel    add(...)
#|     kernel    multiply(...)
#|   source    not kept
#|     kernel    add(...)
#|     kernel    multiply(...)
#|     kernel    add(...)
#|     kernel    multiply(...)
#| no source text
