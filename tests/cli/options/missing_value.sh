#!/bin/bash
for option in -o --output -D -U -I -include -j --timeout --device --program --variant; do
  oclcc a.cl "$option"
  echo "exit $?"
done
oclcc a.cl --output=
# expected exit status: 2
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
# expected errors:
#| oclcc: error: option '-o' needs a value: -o FILE
#| oclcc: error: option '--output' needs a value: --output FILE
#| oclcc: error: option '-D' needs a value: -D NAME[=VALUE]
#| oclcc: error: option '-U' needs a value: -U NAME
#| oclcc: error: option '-I' needs a value: -I DIR
#| oclcc: error: option '-include' needs a value: -include FILE
#| oclcc: error: option '-j' needs a value: -j N
#| oclcc: error: option '--timeout' needs a value: --timeout SECONDS
#| oclcc: error: option '--device' needs a value: --device PATTERN
#| oclcc: error: option '--program' needs a value: --program NAME=FILE
#| oclcc: error: option '--variant' needs a value: --variant NAME='OPTIONS'
#| oclcc: error: option '-o' needs a value: -o FILE
