#!/bin/bash
echo 'kernel void k() {}' > k.cl
chmod 0 k.cl
oclcc=(oclcc)
if [ "$(id -u)" = 0 ]; then
  # Root can read every file, so this runs as another user.
  chmod a+rx . .. ../bin
  oclcc=(setpriv --reuid=65534 --regid=65534 --clear-groups oclcc)
  "${oclcc[@]}" --version > /dev/null || { echo "no other user can start oclcc"; exit 77; }
fi
"${oclcc[@]}" k.cl
# expected exit status: 3
# expected errors:
#| oclcc: error: cannot open 'k.cl': Permission denied
