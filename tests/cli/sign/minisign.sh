#!/bin/bash
# Signs as Debian's minisign does: the same signature from the same key, in both directions.
make_bundle sample s.clbin
minisign -G -W -p m.pub -s m.key > log
oclcc --sign --key m.key s.clbin -o by_oclcc.clbin; echo "exit $?"
oclcc --sign-message s.clbin > message; echo "exit $?"
stat -c '%s bytes' message
head -c 11 message; echo
tail -c 32 message | cmp - <(tail -c +33 s.clbin | head -c 32) && echo 'and the root'
minisign -S -l -s m.key -m message > log
oclcc --sign --sign-with 'cat message.minisig' --public-key m.pub s.clbin -o by_minisign.clbin; echo "exit $?"
cmp by_oclcc.clbin by_minisign.clbin && echo 'the same record'
oclcc --sign-message --counter 5 s.clbin -o counter; echo "exit $?"
stat -c '%s bytes' counter
minisign -S -l -s m.key -m counter > log
# The command is called for the signature first, and then for the counter.
oclcc --sign --sign-with 'cat > bytes; cmp -s bytes message && cat message.minisig || cat counter.minisig' \
  --public-key m.pub --counter 5 s.clbin -o with_counter.clbin; echo "exit $?"
oclcc --sign --key m.key --counter 5 s.clbin -o other.clbin && cmp other.clbin with_counter.clbin && echo 'the same records'
oclcc --verify --public-key "$(tail -n 1 m.pub)" --least-counter 5 with_counter.clbin; echo "exit $?"
oclcc --sign-message by_oclcc.clbin | cmp - message && echo 'the same message'
oclcc --sign-message missing.clbin; echo "exit $?"
head -c 300 s.clbin > cut.clbin
oclcc --sign-message cut.clbin -o never; echo "exit $?"
[ ! -e never ] || echo 'written'
# expected output:
#| exit 0
#| exit 0
#| 43 bytes
#| clbin-sig-1
#| and the root
#| exit 0
#| the same record
#| exit 0
#| 55 bytes
#| exit 0
#| the same records
#| exit 0
#| the same message
#| exit 3
#| exit 4
# expected errors:
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 300 bytes are present
