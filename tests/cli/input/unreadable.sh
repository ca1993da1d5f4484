#!/bin/bash
if [ "$(id -u)" = 0 ]; then
  # Root reads everything.
  echo "the tests run as root"
  exit 77
fi
echo 'kernel void k() {}' > k.cl
chmod 0 k.cl
oclcc k.cl
