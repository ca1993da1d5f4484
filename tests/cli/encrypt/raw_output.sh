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
