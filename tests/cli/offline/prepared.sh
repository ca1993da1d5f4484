#!/bin/bash
# With the compile cache, what does not depend on the kernel is made once: the built-in functions of
# nvptx, and the versions of tools. The bytes are the same with and without the cache.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
printf '#!/bin/sh\necho "$*" >> "%s/starts"\nexec "%s" "$@"\n' "$PWD" "$clang" > clang
chmod +x clang
compile() {
  : > starts
  oclcc k.cl --target nvptx:sm_70 --tool clang=clang "$@"
  echo "$(wc -l < starts) starts, of these for built-in functions: $(grep -c -e overlay.cl -e images.ll starts)"
}
echo 'kernel void k(global float* a) { *a = sin(*a); }' > k.cl
echo "first run"
compile -o one.clbin
echo 'kernel void k(global float* a) { *a = cos(*a); }' > k.cl
echo "changed kernel"
compile -o two.clbin
echo "without the cache"
compile -o three.clbin --no-cache
cmp two.clbin three.clbin && echo "the same bytes"
file=$(find "$XDG_CACHE_HOME" -name '*.prepared' -size +100k)
[ -n "$file" ] && printf 'x' | dd of="$file" bs=1 seek=200000 conv=notrunc 2> dd.log
echo "damaged"
echo 'kernel void k(global float* a) { *a = cos(*a) ; }' > k.cl
compile -o four.clbin

echo "healed"
echo 'kernel void k(global float* a) { *a = tan(*a); }' > k.cl
compile -o five.clbin
oclcc k.cl --target nvptx:sm_70 --tool clang=clang --no-cache -o six.clbin
cmp five.clbin six.clbin && echo "the same bytes"

# What is signed does not come from the cache.
oclcc --keygen key --no-passphrase
echo "signed"
echo 'kernel void k(global float* a) { *a = exp(*a); }' > k.cl
compile -o seven.clbin --sign-key key.key
# expected output:
#| first run
#| 5 starts, of these for built-in functions: 2
#| changed kernel
#| 2 starts, of these for built-in functions: 0
#| without the cache
#| 5 starts, of these for built-in functions: 2
#| the same bytes
#| damaged
#| 4 starts, of these for built-in functions: 2
#| healed
#| 2 starts, of these for built-in functions: 0
#| the same bytes
#| signed
#| 5 starts, of these for built-in functions: 2
