#!/bin/bash
# The synopsis of libclbin(3) contains exactly the declarations of clbin.h.
compare() {
  python3 -B "$CLI_TESTS/documents/compare_header_and_manual.py" "$ROOT/libclbin/include/clbin/clbin.h" "$1"
}
compare "$ROOT/man/libclbin.3"
# The comparison finds a missing function, an additional one, and another type.
sed -e 's/^\.Fn clbin_version void/.Fn clbin_edition void/' -e 's/"clbin_status status"/"int status"/' \
  "$ROOT/man/libclbin.3" > other.3
compare other.3
# expected exit status: 1
# expected output:
#| the same
#| clbin_edition is in the synopsis and not in clbin.h
#| clbin_status_name: clbin.h has 'const char *' of (clbin_status status), the synopsis 'const char *' of (int status)
#| clbin_version is in clbin.h and not in the synopsis
