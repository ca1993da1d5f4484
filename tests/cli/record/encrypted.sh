#!/bin/bash
# --record adds to an encrypted bundle only with its key, and encrypts the result.
# shellcheck source=tests/cli/record/layer.bash
source "$CLI_TESTS/record/layer.bash"
oclcc --keygen c --key-type content
oclcc --keygen r --key-type recipient
record() { oclcc --record "$@"; echo "exit $?"; }
record plain.clbin -- ./app one
oclcc --encrypt --encrypt-key c.key --encrypt-for r.pub plain.clbin -o e.clbin
cp e.clbin before.clbin
record e.clbin -- echo not run
cmp e.clbin before.clbin
record e.clbin --decrypt-key missing.key -- echo not run
record e.clbin --decrypt-key r.key -- ./app two
record plain.clbin -- ./app two
oclcc --verify --decrypt-key c.key e.clbin; echo "exit $?"
oclcc --decrypt --decrypt-key r.key e.clbin && cmp e.clbin plain.clbin && echo 'the same recording'
record new.clbin --decrypt-key c.key -- ./app one # of no use here, but no mistake
record c.key --decrypt-key c.key -- echo not run
head -c 9 c.key; echo
# expected output:
#| exit 0
#| exit 4
#| exit 3
#| exit 0
#| exit 0
#| exit 0
#| the same recording
#| exit 0
#| exit 2
#| untrusted
# expected errors:
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: cannot open 'missing.key': No such file or directory
#| oclcc: error: 'c.key' is both an input and the output
