#!/bin/bash
make_bundle sample s.clbin
head -c 3000 s.clbin > cut.clbin
cp s.clbin damaged.clbin
printf X | dd of=damaged.clbin bs=1 seek=3700 conv=notrunc status=none
mkdir folder
oclcc --merge s.clbin; echo "exit $?"
oclcc --merge -o b.clbin; echo "exit $?"
oclcc --merge s.clbin cut.clbin missing.clbin folder -o b.clbin; echo "exit $?"
oclcc --merge s.clbin damaged.clbin -o b.clbin; echo "exit $?"
oclcc --merge s.clbin -o folder; echo "exit $?"
oclcc --merge s.clbin --json -o -; echo "exit $?"
oclcc --merge s.clbin --strip-source -o b.clbin; echo "exit $?"
oclcc --merge - - -o b.clbin; echo "exit $?"
ls
# expected output:
#| exit 2
#| exit 2
#| exit 4
#| exit 4
#| exit 3
#| exit 2
#| exit 2
#| exit 2
#| cut.clbin
#| damaged.clbin
#| folder
#| s.clbin
# expected errors:
#| oclcc: error: '--merge' needs an output: name one with '-o'
#| oclcc: error: '--merge' needs a bundle
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 3000 bytes are present
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: cannot read 'folder': Is a directory
#| oclcc: error: 'damaged.clbin': blob 6: stored_digest does not match: it was changed
#| oclcc: error: cannot write 'folder': Is a directory
#| oclcc: error: '--json' and '-o -' would both write to standard output
#| oclcc: error: '--strip-source' cannot be used with '--merge'
#| oclcc: error: standard input ('-') is given more than once
