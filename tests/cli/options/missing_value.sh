#!/bin/bash
for option in -o --output -D -U -I -include -j --timeout --device --program --variant; do
  oclcc a.cl "$option"
  echo "exit $?"
done
oclcc a.cl --output=
