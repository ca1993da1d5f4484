#!/bin/bash
# For bundles that disagree, the message names the program, the variant and both files. Nothing is
# written.
make_bundle sample s.clbin
for kind in other-source other-options other-payload; do
  make_bundle $kind other.clbin
  oclcc --merge s.clbin other.clbin -o b.clbin; echo "exit $?"
  oclcc --merge other.clbin s.clbin -o b.clbin; echo "exit $?"
done
ls
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| other.clbin
#| s.clbin
# expected errors:
#| oclcc: error: 'other.clbin': program 'matmul' has different source in 's.clbin'
#| oclcc: error: 's.clbin': program 'matmul' has different source in 'other.clbin'
#| oclcc: error: 'other.clbin': program 'reduce', variant 'default' has options '-DWIDTH=16' here and '-DWIDTH=8' in 's.clbin'
#| oclcc: error: 's.clbin': program 'reduce', variant 'default' has options '-DWIDTH=8' here and '-DWIDTH=16' in 'other.clbin'
#| oclcc: error: 'other.clbin': program 'matmul', variant 'default' has two different binaries of kind ptx for 'nvptx:sm_50' (the other one is in 's.clbin')
#| oclcc: error: 's.clbin': program 'matmul', variant 'default' has two different binaries of kind ptx for 'nvptx:sm_50' (the other one is in 'other.clbin')
