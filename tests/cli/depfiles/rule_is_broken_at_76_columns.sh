#!/bin/bash
for i in $(seq 1 30); do touch "header$i.h"; echo "#include \"header$i.h\""; done > k.cl
echo 'kernel void k(global int* a) { *a = 1; }' >> k.cl
oclcc -M k.cl
# expected output:
#| k.clbin: k.cl header1.h header2.h header3.h header4.h header5.h header6.h \
#|  header7.h header8.h header9.h header10.h header11.h header12.h header13.h \
#|  header14.h header15.h header16.h header17.h header18.h header19.h \
#|  header20.h header21.h header22.h header23.h header24.h header25.h \
#|  header26.h header27.h header28.h header29.h header30.h
