#!/bin/bash
# Files that name one another several times are not read billions of times: there are limits on the
# files and the bytes that a command line reads.
for i in $(seq 1 14); do
  next=@f$((i + 1))
  echo "$next $next $next $next" > "f$i"
done
echo > f15
oclcc @f1; echo "exit $?"
# Exactly the limit, and one more.
for i in $(seq 1 999); do echo @empty; done > list
: > empty
oclcc @list; echo "exit $?"
oclcc @list @empty; echo "exit $?"
# 64 MiB, and some bytes.
head -c 16777216 /dev/zero | tr '\0' ' ' > large
oclcc @large @large @large @large; echo "exit $?"
echo > line
oclcc @large @large @large @large @line; echo "exit $?"
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: more than 1000 response files are read: the next one is '@f15'
#| oclcc: error: no input file; 'oclcc --help' lists the common options
#| oclcc: error: more than 1000 response files are read: the next one is '@empty'
#| oclcc: error: no input file; 'oclcc --help' lists the common options
#| oclcc: error: response files have more than 67108864 bytes in all with '@line'
