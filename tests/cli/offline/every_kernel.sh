#!/bin/bash
# Every kernel of kernels/ compiles for each target without a platform. The recorded facts of the
# kernels do not depend on the target. The bytes of two kernels are the same in another folder, with
# another -j, with CUDA's folder in PATH, and without the other kernels.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_50
needs spirv:1.2
targets=(nvptx:sm_50 nvptx:sm_70 spirv:1.0 spirv:1.2 spirv:1.2:32)
words=()
for target in "${targets[@]}"; do
  words+=(--target "$target")
done
mkdir one two
cp "$ROOT"/kernels/*.cl* one
cp "$ROOT"/kernels/*.cl* two
(cd one && oclcc ./*.cl "${words[@]}" --no-cache -j2 -o ../one.clbin) || exit
(cd two && PATH="$PATH:/usr/local/cuda/bin" oclcc transpose.cl elementwise.cl "${words[@]}" --no-cache -j1 -o ../two.clbin) || exit
oclcc -q --extract one.clbin -o all > /dev/null
oclcc -q --extract two.clbin -o again > /dev/null
same=0
for file in again/*.ptx again/*.spv; do
  cmp "$file" "all/${file#again/}" && same=$((same + 1))
done
[ $same = $((2 * ${#targets[@]})) ] && echo "the same bytes"
oclcc --verify one.clbin

programs=$(oclcc --info -v one.clbin | grep -c '^program')
[ "$(oclcc --info -v one.clbin | grep -c '^  entry')" -eq $((programs * ${#targets[@]})) ] || oclcc --info -v one.clbin
for target in "${targets[@]}"; do
  oclcc -q --strip one.clbin --keep-target "$target" -o target.clbin
  oclcc --info -v target.clbin | sed -n 's/^    kernel *//p' > "kernels.$target"
done
for target in "${targets[@]}"; do
  cmp "kernels.${targets[0]}" "kernels.$target"
done
[ -s "kernels.${targets[0]}" ] && echo "the same kernels"
# expected output:
#| the same bytes
#| the same kernels
