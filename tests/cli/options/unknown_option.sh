#!/bin/bash
# Every unknown option is exit 2, with a suggestion if a similar option exists.
for option in --keep-goin --no-suorce -Werrror -Og -help -qv --inputs=x; do
  oclcc "$option" a.cl
  echo "exit $?"
done
oclcc --varient fast=-w a.cl
