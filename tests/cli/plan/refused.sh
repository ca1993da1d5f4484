#!/bin/bash
# What a plan cannot contain is an error, before anything is written.
echo 'kernel void k(global int* a) { *a = 1; }' | tee k.cl > "line
break.cl"
cp k.cl k.txt
mkdir other; cp k.cl other
target=(--target spirv:1.2)
refuse() { oclcc "$@"; echo "exit $?"; }
refuse --plan=make k.cl
refuse --plan
refuse --plan=ninja
refuse --plan=ninja -
refuse --plan=ninja k.cl k.txt other/k.cl "${target[@]}" -o k.clbin
refuse --plan=json k.cl "${target[@]}" -o k.spv
refuse --plan=json k.cl "${target[@]}" -o -
refuse --plan=json k.cl l.cl "${target[@]}"
refuse --plan=json nowhere.cl "${target[@]}"
refuse --plan=json k.cl --target spirv:9
make_bundle sample sample.clbin
refuse --plan=json sample.clbin -o out.clbin
# Options without an effect, and secrets.
for option in "--sign-key k.key" "--sign-with cat" "--encrypt-key c.key" "--encrypt-for r.pub" \
  "--decrypt-key c.key" "--keep-going" "-j 2" "-MD" "-###" "-fsyntax-only" "--source-only" "--json" \
  "--emit o" "--unit 0"; do
  # shellcheck disable=SC2086 # an option and its value
  refuse --plan=json k.cl "${target[@]}" $option
done
refuse --plan=json --info k.clbin
ls
# A line break is no problem for JSON only.
if oclcc --list-targets | grep -q -x spirv:1.2; then
  for format in ninja parallel slurm; do
    oclcc --plan=$format "line
break.cl" "${target[@]}" -o broken.clbin 2>&1 | cut -c 1-90
  done
  ls -d broken.plan
  oclcc --plan=json "line
break.cl" "${target[@]}" -q && python3 "$CLI_TESTS/plan/run_plan.py" "line
break.plan/plan.json"
fi
