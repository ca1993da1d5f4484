#!/bin/bash
# -M and -MM print the rule and start no driver; -MF, -MT, -MQ, -MP and -o as in gcc.
export OCL_ICD_VENDORS=/no/such/folder
mkdir inc
echo '#include "b.h"
#include <c.h>
kernel void k(global int* a) { *a = 1; }' > k.cl
echo '#include "d.h"' > b.h
touch d.h inc/c.h f.h
echo 'kernel void l(global int* a) { *a = 1; }' > l.cl
oclcc -M -Iinc k.cl
oclcc -MM -I inc -include f.h ./k.cl
oclcc -M -Iinc k.cl -MT all -MT '$(OUT)/k' -MQ '$x y#z' -MP
oclcc -M -Iinc k.cl l.cl -MQ both -MP
oclcc -M -Iinc k.cl -MFrule; echo "exit $?"
cat rule
oclcc -M -Iinc k.cl -MF a.d -MF - -o out/k.clbin
oclcc -M -Iinc k.cl -o rule_o
cat rule_o
oclcc -M - < l.cl
oclcc -M k.cl -MD | head -1
ls
# expected output:
#| k.clbin: k.cl b.h inc/c.h d.h
#| k.clbin: k.cl f.h b.h inc/c.h d.h
#| all $(OUT)/k $$x\ y\#z: k.cl b.h inc/c.h d.h
#| b.h:
#| inc/c.h:
#| d.h:
#| both: k.cl b.h inc/c.h d.h l.cl
#| b.h:
#| inc/c.h:
#| d.h:
#| exit 0
#| k.clbin: k.cl b.h inc/c.h d.h
#| out/k.clbin: k.cl b.h inc/c.h d.h
#| k.clbin: k.cl b.h inc/c.h d.h
#| stdin.clbin:
#| k.clbin: k.cl b.h d.h
#| b.h
#| d.h
#| f.h
#| inc
#| k.cl
#| l.cl
#| rule
#| rule_o
