#!/bin/bash
# The second run starts no tool. Another tool or other options make other units.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
echo 'kernel void k(global int* a) { *a = X; }' > k.cl
for tool in one two; do
  printf '#!/bin/sh\necho >> "%s/starts"\nexec "%s" "$@" # %s\n' "$PWD" "$clang" "$tool" > "$tool"
  chmod +x "$tool"
done
count() { wc -l < starts; }
oclcc k.cl -DX=1 --target nvptx:sm_70 --tool clang=one -o first.clbin
first=$(count)
[ "$first" -gt 0 ] && echo "compiled"
rm first.clbin
oclcc k.cl -DX=1 --target nvptx:sm_70 --tool clang=one -o first.clbin
[ "$(count)" -eq "$first" ] && echo "not compiled again"
oclcc k.cl -DX=2 --target nvptx:sm_70 --tool clang=one -o first.clbin
second=$(count)
[ "$second" -gt "$first" ] && echo "compiled with other options"
oclcc k.cl -DX=1 --target nvptx:sm_70 --tool clang=two -o second.clbin
[ "$(count)" -gt "$second" ] && echo "compiled with another tool"
oclcc --info first.clbin --json > /dev/null && oclcc -v k.cl -DX=1 --target nvptx:sm_70 --tool clang=one 2>&1 | grep -o 'compile cache: .*'
# expected output:
#| compiled
#| not compiled again
#| compiled with other options
#| compiled with another tool
#| compile cache: hit
