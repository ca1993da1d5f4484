#!/bin/bash
# No device binary is made of an encrypted bundle, because it would not be encrypted.
make_bundle sample s.clbin
oclcc --keygen c --key-type content
oclcc --encrypt --encrypt-key c.key s.clbin -o e.clbin
for name in k.ptx k.spv k.cubin k.bin; do
  oclcc --decrypt-key c.key --target nvptx:sm_50 e.clbin -o $name; echo "exit $?"
done
oclcc --decrypt-key c.key --encrypt-key c.key --target nvptx:sm_50 e.clbin -o k.ptx; echo "exit $?"
oclcc --decrypt-key c.key --target nvptx:sm_50 e.clbin s.clbin -o k.ptx; echo "exit $?"
compgen -G 'k.*' || echo 'nothing is written'
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| nothing is written
# expected errors:
#| oclcc: warning: e.clbin: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: error: 'k.ptx' would not be encrypted, but 'e.clbin' is: compile what '--decrypt' makes of it
#| oclcc: warning: e.clbin: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: error: 'k.spv' would not be encrypted, but 'e.clbin' is: compile what '--decrypt' makes of it
#| oclcc: warning: e.clbin: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: error: 'k.cubin' would not be encrypted, but 'e.clbin' is: compile what '--decrypt' makes of it
#| oclcc: warning: e.clbin: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: error: 'k.bin' would not be encrypted, but 'e.clbin' is: compile what '--decrypt' makes of it
#| oclcc: error: '--encrypt-key' is for bundles, but 'k.ptx' is not one
#| oclcc: note: to see its contents: oclcc --info e.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: warning: the bundles: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: error: 'k.ptx' would not be encrypted, but an input is: compile what '--decrypt' makes of it
