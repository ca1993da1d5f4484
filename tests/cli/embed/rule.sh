#!/bin/bash
# With a bundle as input, -MD writes a rule for make and ninja that names it, and only with the
# output.
make_bundle sample k.clbin
oclcc k.clbin -o k.o -MD && cat k.d
oclcc k.clbin -o k.h -MD -MP -MF rule.d -MT k.h -MT 'more' && cat rule.d
cp k.clbin 'a b.clbin'
mkdir other && cp k.clbin other
oclcc k.clbin other/k.clbin 'a b.clbin' -o k.hpp -MMD -MF - # bundles may have the same name
rm k.d k.o
head -c 200 k.clbin > cut.clbin
oclcc cut.clbin -o k.o -MD; echo "exit $?"
oclcc k.clbin -o k.o -MD -MF k.clbin; echo "exit $?"
oclcc k.clbin -o k.o -MD -MF no/such/folder/k.d; echo "exit $?"
ls k.o k.d 2>&1
cmp k.clbin 'a b.clbin' && echo "the bundle is as it was"
printf 'k.o: k.clbin\n\toclcc $< -o $@ -MD\n-include k.d\n' > Makefile
make --silent && make --question && echo "up to date"
until touch k.clbin && [ k.clbin -nt k.o ]; do sleep 0.01; done
make --question || echo "a new bundle is seen"
# expected output:
#| k.o: k.clbin
#| k.h more: k.clbin
#| k.hpp: k.clbin other/k.clbin a\ b.clbin
#| exit 4
#| exit 2
#| exit 3
#| ls: cannot access 'k.o': No such file or directory
#| ls: cannot access 'k.d': No such file or directory
#| the bundle is as it was
#| up to date
#| a new bundle is seen
# expected errors:
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 200 bytes are present
#| oclcc: error: 'k.clbin' is both an input and the output
#| oclcc: error: cannot write 'no/such/folder/k.d': No such file or directory
