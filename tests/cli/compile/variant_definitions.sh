#!/bin/bash
# Every compiler gets each variant's own definitions, quoted or undefined.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
cat > k.cl << 'END'
#include HEADER
constant char text[] = TEXT;
#if defined(BASE) != BASE_WANTED || SUM != 3 || FROM != FROM_WANTED
#error a macro is wrong
#endif
kernel void k(global char* a) { *a = text[0]; }
END
echo '#define FROM 1' > a.h
echo '#define FROM 2' > b.h
oclcc k.cl -DBASE '-DTEXT="base"' '-DHEADER="a.h"' '-DSUM=1 + 2' -DFROM_WANTED=1 \
  --variant plain=-DBASE_WANTED=1 \
  --variant odd='-UBASE -DBASE_WANTED=0 "-DTEXT=\"a \\\"b\\\"\"" "-DHEADER=\"b.h\"" -DFROM_WANTED=2'
oclcc --info k.clbin | grep -E '^program|^  options'
[ "$(entries k.clbin)" = $((2 * device_count)) ] || echo "$(entries k.clbin) entries"
# expected output:
#| program 'k', variant 'odd'
#|   options   -DBASE_WANTED=0 -DOCLCC_OPTION_16766c8a92359110 -DOCLCC_OPTION_7a1b76a5c94f0d49 -DFROM_WANTED=2
#| program 'k', variant 'plain'
#|   options   -DBASE -DOCLCC_OPTION_d8355376929ef40b -DOCLCC_OPTION_ce0404604efe56db -DFROM_WANTED=1 -DBASE_WANTED=1
