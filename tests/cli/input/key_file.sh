#!/bin/bash
# A file of keys or of a signature among the inputs is not compiled, and no message quotes it.
make_bundle sample s.clbin
oclcc --keygen c --key-type content
oclcc --keygen r --key-type recipient
oclcc --keygen m --no-passphrase
oclcc --sign --detached --key m.key s.clbin
tail -n 1 c.key > line.key
sed 's/$/\r/' m.pub > crlf.pub
head -c 90 c.key > cut.key
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
printf '#include "c.key"\nkernel void k(global int* a) { *a = 1; }\n' > includes.cl
for file in c.key r.key r.pub m.key m.pub s.clbin.minisig line.key crlf.pub cut.key; do
  oclcc $file --source-only -o out.clbin; echo "exit $?"
done
oclcc k.cl c.key --source-only -o out.clbin; echo "exit $?"
oclcc - --source-only -o out.clbin < c.key; echo "exit $?"
oclcc -include c.key k.cl --source-only -o out.clbin; echo "exit $?"
oclcc -M c.key; echo "exit $?"
oclcc includes.cl --source-only -o out.clbin > log 2>&1
grep -c 'not source text' log
secret=$(tail -n 1 c.key)
grep -c "${secret:0:20}" log
oclcc --extract out.clbin -o out && grep -rc untrusted out | grep -v ':0$'
true
# expected output:
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| 1
#| 0
# expected errors:
#| oclcc: error: 'c.key' is not source text: it is a content key of clbin
#| oclcc: error: 'r.key' is not source text: it is the secret key of a recipient
#| oclcc: error: 'r.pub' is not source text: it is the public key of a recipient
#| oclcc: error: 'm.key' is not source text: it is a secret key of minisign
#| oclcc: error: 'm.pub' is not source text: it is a public key of minisign
#| oclcc: error: 's.clbin.minisig' is not source text: it is a signature of minisign
#| oclcc: error: 'line.key' is not source text: it is a content key of clbin
#| oclcc: error: 'crlf.pub' is not source text: it is a public key of minisign
#| oclcc: error: 'cut.key' is not source text: it is a damaged file of keys
#| oclcc: error: 'c.key' is not source text: it is a content key of clbin
#| oclcc: error: '-' is not source text: it is a content key of clbin
#| oclcc: error: 'c.key' is not source text: it is a content key of clbin
#| oclcc: error: 'c.key' is not source text: it is a content key of clbin
