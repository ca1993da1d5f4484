#!/bin/bash
# The same bytes whatever was built before: in another order, with another number of compilers, and
# alone. The programs give equal names to other structs, and one has a required work-group size.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
export CLBIN_CACHE=0
for number in 1 2 3; do
  cat > k$number.cl << END
typedef struct { float weight; int rest[$number]; } part;
struct whole { part first; int$((1 << number)) last; };
kernel void change(global part* a, global struct whole* b) {
  size_t i = get_global_id(0);
  struct whole copy = b[i];
  copy.first = a[i];
  b[i] = copy;
}
END
done
sed -i '1i #define REQUIRED __attribute__((reqd_work_group_size(8, 1, 1)))' k2.cl
sed -i 's/^kernel void/kernel REQUIRED void/' k2.cl

# compile NAME OPTION...: into NAME.clbin, and what is in it into the folder NAME.
compile() {
  oclcc "${@:2}" -o "$1.clbin"
  oclcc -q --extract "$1.clbin" -o "$1" > /dev/null
}
compile forward -j1 k1.cl k2.cl k3.cl
compile backward -j1 k3.cl k2.cl k1.cl
diff -r forward backward
compile together -j2 k1.cl k2.cl k3.cl
diff -r forward together
compile alone -j1 k3.cl
for file in alone/*.*; do
  [ -d "$file" ] || cmp "$file" "forward/${file#alone/}"
done
# Entries for one device that differ are a conflict.
oclcc --merge alone.clbin forward.clbin -o merged.clbin
oclcc --diff merged.clbin forward.clbin
