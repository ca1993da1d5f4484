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
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 3
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| k.cl
#| k.txt
#| line
#| break.cl
#| other
#| sample.clbin
#| oclcc: error: only a plan of '--plan=json' can contain a line break, which is in 'line?bre
#| oclcc: error: only a plan of '--plan=json' can contain a line break, which is in 'line?bre
#| oclcc: error: only a plan of '--plan=json' can contain a line break, which is in 'line?bre
#| 1 built, 0 cached, inputs ['line\nbreak.cl']
# expected errors:
#| oclcc: error: '--plan' accepts ninja, json, slurm or parallel, not 'make'
#| oclcc: error: option '--plan' needs a value: --plan ninja|json|slurm|parallel
#| oclcc: error: no input file; 'oclcc --help' lists the common options
#| oclcc: error: '--plan' requires files: units cannot read standard input
#| oclcc: error: 'k.cl' and 'k.txt' would both be program 'k'; name one of them with '--program NAME=FILE'
#| oclcc: error: '--plan' makes a bundle in a file, and 'k.spv' is not one; a further command can convert the bundle
#| oclcc: error: '--plan' makes a bundle in a file, and '-' is not one; a further command can convert the bundle
#| oclcc: error: a bundle of several inputs has no default name: name it with -o
#| oclcc: error: cannot open 'nowhere.cl': No such file or directory
#| oclcc: error: '--target spirv:9': the family 'spirv' has no such target; --list-targets lists them
#| oclcc: error: '--plan' requires sources, and 'sample.clbin' is a bundle
#| oclcc: error: '--sign-key' cannot be used with '--plan'
#| oclcc: error: '--sign-with' cannot be used with '--plan'
#| oclcc: error: '--encrypt-key' cannot be used with '--plan'
#| oclcc: error: '--encrypt-for' cannot be used with '--plan'
#| oclcc: error: '--decrypt-key' cannot be used with '--plan'
#| oclcc: error: '--keep-going' cannot be used with '--plan'
#| oclcc: error: '-j' cannot be used with '--plan'
#| oclcc: error: '-MD' cannot be used with '--plan'
#| oclcc: error: '-###' cannot be used with '--plan'
#| oclcc: error: '-fsyntax-only' cannot be used with '--plan'
#| oclcc: error: '--source-only' cannot be used with '--plan'
#| oclcc: error: '--json' cannot be used with '--plan'
#| oclcc: error: '--emit' cannot be used with '--plan'
#| oclcc: error: '--unit' requires the key of a unit, 64 hexadecimal digits, not '0'
#| oclcc: error: '--info' and '--plan' cannot be used together
#| ls: cannot access 'broken.plan': No such file or directory
