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
