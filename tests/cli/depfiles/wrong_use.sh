#!/bin/bash
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
cp k.cl l.cl
for option in -MF=x -MTx -MQx -MP; do
  oclcc "$option" k.cl; echo "exit $?"
done
oclcc -MD k.cl -o -; echo "exit $?"
oclcc -MD k.cl -o /dev/null; echo "exit $?"
oclcc -MD k.cl -o k.d; echo "exit $?"
oclcc -MD k.cl -MF k.cl; echo "exit $?"
oclcc -M k.cl -MF k.cl; echo "exit $?"
oclcc -MD k.cl -MF no/such/folder/k.d; echo "exit $?"
oclcc -M k.cl l.cl; echo "exit $?"
oclcc -M no.cl; echo "exit $?"
oclcc -M k.cl -MF; echo "exit $?"
cp k.cl $'line\nbreak.cl'
oclcc -M $'line\nbreak.cl' -MT x; echo "exit $?"
ls k.*
