#!/bin/bash
# Every compiler gets each spelling of -D as the shell passed it.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
cat > k.cl << 'END'
#if !defined(A) || B != 2 || F(1, 2) != 1 || SUM != 3 || defined(GONE)
#error a macro is wrong
#endif
constant char text[] = TEXT;
kernel void k(global char* a) { *a = text[0] + TAB; }
END
oclcc -DA -D B=2 '-DF(a,b)=a' '-DSUM=1 + 2' '-DTEXT="a \"b\""' "-DTAB='\\t'" -DGONE -UGONE k.cl
[ "$(entries k.clbin)" = "$device_count" ] || echo "$(entries k.clbin) entries"
oclcc --info k.clbin | grep '^  options'
# expected output:
#|   options   -DA -DB=2 -DF(a,b)=a
