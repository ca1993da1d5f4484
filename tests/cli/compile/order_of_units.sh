#!/bin/bash
# The bytes do not depend on what was built before: in another order, with another number of
# compilers on all platforms together, and alone. The programs define different structs of the same name. One has a required
# work-group size, and one has images, whose types drivers' built-in libraries have too.
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
cat >> k3.cl << 'END'
#ifdef __IMAGE_SUPPORT__
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST;
kernel void copy_image(read_only image2d_t from, write_only image2d_t to) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(to, at, sqrt(read_imagef(from, nearest, at)));
}
#endif
END
sed -i '1i #define REQUIRED __attribute__((reqd_work_group_size(8, 1, 1)))' k2.cl
sed -i 's/^kernel void/kernel REQUIRED void/' k2.cl

# compile NAME OPTION...: compiles to NAME.clbin, and extracts it to the folder NAME.
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
# The worker itself builds the only unit of a run. For several units, it forks copies of itself.
mapfile -t devices < <(oclcc --list-devices --json |
  python3 -c 'import json, sys; [print(d["id"]) for d in json.load(sys.stdin)["devices"]]')
for device in "${devices[@]}"; do
  compile "only-$device" -j1 --device "$device" k3.cl
  for file in "only-$device"/*.*; do
    [ -d "$file" ] || [ "${file##*.}" = json ] || cmp "$file" "forward/${file#only*/}"
  done
done
# Entries for one device that differ are a conflict.
oclcc --merge alone.clbin forward.clbin -o merged.clbin
oclcc --diff merged.clbin forward.clbin
