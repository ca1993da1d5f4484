#!/bin/bash
# A bundle in a folder of a read-only file system, in which not even root can write.
make_bundle sample s.clbin
oclcc --keygen k --no-passphrase
mkdir folder && mv s.clbin k.key folder
unshare -rm true 2> /dev/null || { echo "this machine forbids mount namespaces"; exit 77; }
unshare -rm bash -c '
  mount --bind folder folder && mount -o remount,ro,bind folder || { echo "cannot mount"; exit 77; }
  oclcc --sign --key folder/k.key folder/s.clbin; echo "exit $?"
  oclcc --sign --detached --key folder/k.key folder/s.clbin; echo "exit $?"
  oclcc --keygen folder/l --no-passphrase; echo "exit $?"
  oclcc --strip-signature folder/s.clbin; echo "exit $?"
  oclcc --sign --key folder/k.key folder/s.clbin -o signed.clbin; echo "exit $?"'
oclcc --verify --public-key k.pub signed.clbin; echo "exit $?"
# expected output:
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 0
#| exit 0
# expected errors:
#| oclcc: error: cannot write 'folder/s.clbin': Read-only file system
#| oclcc: error: cannot write 'folder/s.clbin.minisig': Read-only file system
#| oclcc: error: cannot write 'folder/l.key': Read-only file system
#| oclcc: error: cannot write 'folder/s.clbin': Read-only file system
