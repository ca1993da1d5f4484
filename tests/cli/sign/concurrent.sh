#!/bin/bash
# Signing in place discards no signature that another process has added since the bundle was read.
make_bundle sample s.clbin
keys='1 2 3 4 5 6'
for n in $keys; do oclcc --keygen k$n --no-passphrase; done
verified() {
  local count=0
  for n in $keys; do oclcc --verify --public-key k$n.pub "$1" > /dev/null 2>&1 && ((++count)); done
  echo "$count of the keys have signed $1"
}

# Another process signs while the command of the first one runs.
oclcc --sign --key k1.key s.clbin -o one.clbin
tail -c 64 one.clbin > raw
nested() {
  rm -f runs
  export bundle=$1
  # shellcheck disable=SC2016
  oclcc --sign --public-key k1.pub --sign-with '
    [ -e runs ] || oclcc --sign --key k2.key "$bundle"
    echo run >> runs
    cat raw' "${@:2}"
  echo "exit $? after $(wc -l < runs) runs"
  verified "$1"
}
for name in a b c target all locked; do cp s.clbin $name.clbin; done
ln -s target.clbin link.clbin
nested a.clbin a.clbin
nested b.clbin b.clbin -o b.clbin
nested link.clbin link.clbin
[ -L link.clbin ] && echo 'the link is still one'

# A separate output replaces no input.
nested c.clbin c.clbin -o separate.clbin
verified separate.clbin

for n in $keys; do oclcc --sign --key k$n.key all.clbin & done
wait
verified all.clbin

# Nobody can stop others from signing with a lock, which everyone who can read the file can take.
(flock 9 && exec sleep 1000) 9< locked.clbin & locker=$!
until ! flock --nonblock locked.clbin true; do sleep 0.01; done
oclcc --sign --key k1.key locked.clbin; echo "exit $?"
kill $locker
verified locked.clbin
# expected output:
#| exit 0 after 2 runs
#| 2 of the keys have signed a.clbin
#| exit 0 after 2 runs
#| 2 of the keys have signed b.clbin
#| exit 0 after 2 runs
#| 2 of the keys have signed link.clbin
#| the link is still one
#| exit 0 after 1 runs
#| 1 of the keys have signed c.clbin
#| 1 of the keys have signed separate.clbin
#| 6 of the keys have signed all.clbin
#| exit 0
#| 1 of the keys have signed locked.clbin
