#!/bin/bash
# Options that would have no effect, or show a secret key, are errors.
make_bundle sample s.clbin
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
echo 'correct horse' > pass
oclcc --keygen k --no-passphrase
oclcc --keygen old --passphrase-file pass

# The text of a key instead of the name of its file.
for secret in "$(< k.key)" "$(tail -n 1 k.key)" "$(tail -n 1 old.key)"; do
  for words in '--sign s.clbin --key' '--sign s.clbin --key k.key --vouched-by' 'k.cl --source-only --sign-key' \
      '--verify s.clbin --public-key' '--sign s.clbin --sign-with true --public-key' '--keygen' \
      '--keygen n --passphrase-file'; do
    # shellcheck disable=SC2086
    oclcc $words "$secret" > printed 2>&1; echo "exit $?"
    grep -qF "${secret: -40}" printed && echo 'the secret key is printed'
    cat printed >&2
  done
done

# Given twice.
oclcc --sign --key k.key --key old.key s.clbin; echo "exit $?"
oclcc --keygen one --keygen two --no-passphrase; echo "exit $?"
oclcc --sign --key k.key --counter 2 --counter 3 s.clbin; echo "exit $?"
oclcc --sign --sign-with true --sign-with false --public-key k.pub s.clbin; echo "exit $?"
oclcc --sign --key k.key --vouched-by old.key --vouched-by k.key s.clbin; echo "exit $?"
oclcc --sign --key old.key --passphrase-file pass --passphrase-file s.clbin s.clbin; echo "exit $?"
oclcc --verify --public-key k.pub --least-counter 2 --least-counter 1 s.clbin; echo "exit $?"

# Without effect.
oclcc --sign --key k.key --passphrase-file missing s.clbin; echo "exit $?"
oclcc k.cl --sign-key missing.key -fsyntax-only; echo "exit $?"
oclcc k.cl --sign-with true --public-key k.pub -M; echo "exit $?"
SOURCE_DATE_EPOCH=abc oclcc --sign --detached --key k.key s.clbin; echo "exit $?"

# A lower counter, by the same key only.
for counter in 3 2 2 5; do oclcc --sign --key k.key --counter $counter s.clbin -o c.clbin && mv c.clbin s.clbin; done
oclcc --keygen third --no-passphrase
oclcc --sign --key third.key --counter 1 s.clbin; echo "exit $?"

# Names and passphrases.
mkdir directory
oclcc --keygen directory/ --no-passphrase; echo "exit $?"
oclcc --keygen . --no-passphrase; echo "exit $?"
printf 'correct\0horse\n' > zero
oclcc --keygen n --passphrase-file zero; echo "exit $?"
chmod 640 k.key
chmod 604 old.key
oclcc --sign --key k.key --vouched-by old.key --passphrase-file pass s.clbin -o t.clbin; echo "exit $?"
ls -A . directory
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 0
#| exit 2
#| exit 2
#| exit 3
#| exit 0
#| .:
#| directory
#| k.cl
#| k.key
#| k.pub
#| old.key
#| old.pub
#| pass
#| printed
#| s.clbin
#| t.clbin
#| third.key
#| third.pub
#| zero
#|
#| directory:
# expected errors:
#| oclcc: error: '--key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--vouched-by' requires the name of a file, not the text of a secret key
#| oclcc: error: '--sign-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--public-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--public-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--keygen' requires the name of a file, not the text of a secret key
#| oclcc: error: '--passphrase-file' requires the name of a file, not the text of a secret key
#| oclcc: error: '--key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--vouched-by' requires the name of a file, not the text of a secret key
#| oclcc: error: '--sign-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--public-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--public-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--keygen' requires the name of a file, not the text of a secret key
#| oclcc: error: '--passphrase-file' requires the name of a file, not the text of a secret key
#| oclcc: error: '--key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--vouched-by' requires the name of a file, not the text of a secret key
#| oclcc: error: '--sign-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--public-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--public-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--keygen' requires the name of a file, not the text of a secret key
#| oclcc: error: '--passphrase-file' requires the name of a file, not the text of a secret key
#| oclcc: error: '--key' is given more than once
#| oclcc: error: '--keygen' is given more than once
#| oclcc: error: '--counter' is given more than once
#| oclcc: error: '--sign-with' is given more than once
#| oclcc: error: '--vouched-by' is given more than once
#| oclcc: error: '--passphrase-file' is given more than once
#| oclcc: error: '--least-counter' is given more than once
#| oclcc: error: '--passphrase-file' is given, but no key has a passphrase
#| oclcc: error: '--sign-key' and '-fsyntax-only' cannot be used together
#| oclcc: error: '--sign-with' and '-M' cannot be used together
#| oclcc: error: s.clbin: SOURCE_DATE_EPOCH is 'abc', which is not a number of seconds
#| oclcc: note: c.clbin: a lower counter replaced 3
#| oclcc: error: '--keygen' requires a name for the files, but 'directory/' is a directory
#| oclcc: error: '--keygen' requires a name for the files, but '.' is a directory
#| oclcc: error: a passphrase in 'zero' contains a NUL byte
#| oclcc: warning: 'k.key' is secret, but its mode 640 lets others open it: chmod 600
#| oclcc: warning: 'old.key' is secret, but its mode 604 lets others open it: chmod 600
