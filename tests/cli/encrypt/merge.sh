#!/bin/bash
# A merge is encrypted if one of its inputs is. Inputs with different content keys need the choice
# of another.
for n in 1 2 3; do make_bundle unit $n $n.clbin; done
for name in c d; do oclcc --keygen $name --key-type content; done
for name in r q; do oclcc --keygen $name --key-type recipient; done
oclcc --merge 1.clbin 2.clbin 3.clbin -o plain.clbin
encrypt() { oclcc --encrypt --encrypt-key "$1.key" "$2.clbin" -o "$2$1.clbin" "${@:3}"; }
for n in 1 2 3; do encrypt c $n; encrypt d $n; done
oclcc --encrypt --encrypt-key c.key plain.clbin -o encrypted.clbin

merge() { oclcc --merge "$@" -o out.clbin; echo "exit $?"; }
merge --decrypt-key c.key 1c.clbin 2c.clbin 3c.clbin; cmp out.clbin encrypted.clbin
merge --decrypt-key c.key 3c.clbin 1c.clbin 2c.clbin; cmp out.clbin encrypted.clbin
merge --decrypt-key c.key 1.clbin 2c.clbin 3.clbin; cmp out.clbin encrypted.clbin
merge --encrypt-key c.key 1.clbin 2.clbin 3.clbin; cmp out.clbin encrypted.clbin
merge --decrypt-key c.key --decrypt-key d.key --encrypt-key c.key 1c.clbin 2d.clbin 3.clbin; cmp out.clbin encrypted.clbin
merge --decrypt-key c.key --decrypt-key d.key --encrypt-for r.pub 1c.clbin 2d.clbin 3.clbin
oclcc --decrypt --decrypt-key r.key out.clbin && cmp out.clbin plain.clbin && echo 'for a recipient'

rm out.clbin
merge --decrypt-key c.key --decrypt-key d.key 1c.clbin 2d.clbin 3.clbin
merge --decrypt-key c.key 1c.clbin 2d.clbin
merge 1.clbin 2c.clbin
merge --encrypt-key c.key 1.clbin 2c.clbin
[ -e out.clbin ] || echo 'nothing is written'

# One content key, for several recipients: the result is for all of them, in any order.
oclcc --encrypt --encrypt-key c.key --encrypt-for r.pub 1.clbin -o 1r.clbin
oclcc --encrypt --encrypt-key c.key --encrypt-for q.pub --encrypt-for r.pub 2.clbin -o 2q.clbin
merge --decrypt-key c.key 1r.clbin 2q.clbin 3c.clbin; mv out.clbin one.clbin
merge --decrypt-key r.key --decrypt-key c.key 3c.clbin 2q.clbin 1r.clbin; cmp out.clbin one.clbin
oclcc --info -v one.clbin | grep -c recipient
for key in c r q; do oclcc --decrypt --decrypt-key $key.key one.clbin -o p.clbin && cmp p.clbin plain.clbin; done
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| exit 0
#| exit 0
#| exit 0
#| for a recipient
#| exit 2
#| exit 4
#| exit 4
#| exit 4
#| nothing is written
#| exit 0
#| exit 0
#| 2
# expected errors:
#| oclcc: note: out.clbin: encrypted with the key of 2c.clbin: whoever can open 2c.clbin can also read what comes from 1.clbin, which is plain; '--encrypt-key' or '--encrypt-for' choose another key
#| oclcc: error: 1c.clbin and 2d.clbin are encrypted with different content keys: choose that of the output with '--encrypt-key' or '--encrypt-for'
#| oclcc: error: 2d.clbin: no key of '--decrypt-key' opens it: its content key is *
#| oclcc: error: 2c.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: 2c.clbin: it is encrypted: name its key with '--decrypt-key'
