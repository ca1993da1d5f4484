#!/bin/bash
# shellcheck disable=SC2218 # tests have their own functions of one name
# Compares manual pages, help, completions and tables of the documents with the products.

### bash_completion
# Bash completes exactly the options that --help lists, and values and files.
# shellcheck source=/dev/null
source "$ROOT/oclcc/command_line/completion/oclcc.bash"
# shellcheck source=tests/cli/documents/options_of_help.bash
source "$CLI_TESTS/documents/options_of_help.bash"
complete_words() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _oclcc
  printf '%s\n' "${COMPREPLY[@]}"
}
options_of_help > of_help
complete_words oclcc - | sorted > completed
diff of_help completed && [ "$(wc -l < completed)" -gt 30 ] && echo "the same"
complete_words oclcc --strip-
complete_words oclcc --color = a
complete_words oclcc --help = a
complete_words oclcc --diagnostics-format s
complete_words oclcc k.cl -ff
touch kernel.cl
complete_words oclcc --color ker
complete_words oclcc --info ker
# expected output:
#| the same
#| --strip-answers
#| --strip-data
#| --strip-measurements
#| --strip-reflection
#| --strip-signature
#| --strip-source
#| auto
#| always
#| all
#| sarif
#| -ffile-prefix-map=
#| kernel.cl
#| kernel.cl

### every_option_has_a_test
# Each option that --help shows has a test in this folder.
oclcc --help=all > help.txt
python3 -B "$CLI_TESTS/documents/find_untested_options.py" help.txt "$CLI_TESTS"
# expected output:
#| 0 options without a test

### exit_codes
# The runs below end with each status in the table of oclcc(1), and with no other.
[ -z "$ASAN_OPTIONS$TSAN_OPTIONS" ] || { echo "sanitizers need all of the memory"; exit 77; }
make_bundle sample good.clbin
make_bundle changed other.clbin
echo text > text.clbin
status_of() {
  (ulimit -v "${memory:-unlimited}"; exec "$@") > /dev/null 2>&1
  echo $?
}
{
  status_of oclcc --info -v good.clbin
  status_of oclcc --diff good.clbin other.clbin
  status_of oclcc --no-such-option
  status_of oclcc --info -v absent.clbin
  status_of oclcc --info -v text.clbin
  status_of env OCL_ICD_VENDORS=/no/such oclcc --list-devices
  head -c 12000000 /dev/zero | tr '\0' 'x' > long
  printf '%s' ' @long @long @long @long @long @long @long @long' > words
  memory=100000 status_of oclcc @words
} > of_runs
cat of_runs
sed -n '/^\.Sh EXIT STATUS/,/^\.Sh EXAMPLES/s/^\.It //p' "$ROOT/man/oclcc.1" > of_manual
diff of_runs of_manual && echo "the same"
# expected output:
#| 0
#| 1
#| 2
#| 3
#| 4
#| 5
#| 6
#| the same

### file_magic
# file(1), with the project's magic, recognizes a bundle and its version.
command -v file > /dev/null || { echo "there is no file(1)"; exit 77; }
make_bundle sample s.clbin
make_bundle newer n.clbin
echo text > t
file -b -m "$ROOT/oclcc/magic/clbin.magic" s.clbin n.clbin
file -b --mime-type -m "$ROOT/oclcc/magic/clbin.magic" s.clbin
file -b -m "$ROOT/oclcc/magic/clbin.magic" t | grep -c bundle
[ "$(stat -c %s s.clbin)" = "$(file -b -m "$ROOT/oclcc/magic/clbin.magic" s.clbin | grep -oE '[0-9]+ bytes' | cut -d' ' -f1)" ] && echo "its size"
# expected output:
#| OpenCL kernel bundle (clbin) version 1.0, 3816 bytes
#| OpenCL kernel bundle (clbin) version 2.0, 3816 bytes
#| application/x-clbin
#| 0
#| its size

### fish_completion
# Fish completes exactly the options that --help lists, and values and files.
command -v fish > /dev/null || { echo "there is no fish"; exit 77; }
# shellcheck source=tests/cli/documents/options_of_help.bash
source "$CLI_TESTS/documents/options_of_help.bash"
complete_line() { fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$ROOT/oclcc/command_line/completion/oclcc.fish" "$1" | cut -f1; }
options_of_help > of_help
complete_line 'oclcc -' | sorted > completed
diff of_help completed && [ "$(wc -l < completed)" -gt 30 ] && echo "the same"
complete_line 'oclcc --strip-'
complete_line 'oclcc --color=a'
complete_line 'oclcc --help=a'
complete_line 'oclcc --diagnostics-format s'
complete_line 'oclcc --emit c'
touch kernel.cl
mkdir kernels
complete_line 'oclcc --info ker'
complete_line 'oclcc -o ker'
complete_line 'oclcc -I ker'
# expected output:
#| the same
#| --strip-answers
#| --strip-data
#| --strip-measurements
#| --strip-reflection
#| --strip-signature
#| --strip-source
#| --color=always
#| --color=auto
#| --help=all
#| sarif
#| c
#| clbin
#| cubin
#| kernel.cl
#| kernels/
#| kernel.cl
#| kernels/
#| kernels/

### header_and_manual
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

### help_and_manual
# --help, the manual pages and exit_code.hpp list the same options and statuses.
oclcc --help=all > help.txt
python3 "$CLI_TESTS/documents/compare_help_and_manual.py" help.txt \
  "$ROOT/oclcc/terminal/exit_code.hpp" "$ROOT/man/oclcc.1" "$ROOT/man/oclcc-signing.7" \
  "$ROOT/man/oclcc-tuning.7"
# expected output:
#| the same

### made_completion
# The completions of zsh and fish are those that from_help.py generates from --help.
oclcc --help=all > help.txt
for shell in zsh:_oclcc fish:oclcc.fish; do
  python3 "$ROOT/oclcc/command_line/completion/from_help.py" "${shell%:*}" < help.txt |
    diff - "$ROOT/oclcc/command_line/completion/${shell#*:}" && echo "${shell%:*}: as made"
done
# expected output:
#| zsh: as made
#| fish: as made

### targets
# Each target that a page names is one, on whatever machine.
oclcc --list-targets | grep -oE '^[a-z]+:[^ ]+' | sort -u > targets
pages=("$ROOT"/README.md "$ROOT"/doc/*.md "$ROOT"/doc/*/*.md "$ROOT"/man/*)
grep -ohE '\b(nvptx|cubin|amdgcn|intel|spirv):[A-Za-z0-9_.-]+[A-Za-z0-9_+-]' "${pages[@]}" | sort -u > named
[[ $(wc -l < named) -gt 10 ]] && comm -23 named targets

### zsh_completion
# Zsh completes exactly the options that --help lists, and values and files.
command -v zsh > /dev/null || { echo "there is no zsh"; exit 77; }
# shellcheck source=tests/cli/documents/options_of_help.bash
source "$CLI_TESTS/documents/options_of_help.bash"
complete_line() {
  : > hits
  TERM=dumb zsh -f "$CLI_TESTS/documents/complete_line.zsh" "$ROOT/oclcc/command_line/completion" "$1" hits
  grep . hits | sorted # zsh lists some options twice
}
options_of_help > of_help
complete_line 'oclcc -' > completed
diff of_help completed && [ "$(wc -l < completed)" -gt 30 ] && echo "the same"
complete_line 'oclcc --strip-'
complete_line 'oclcc --color=a'
complete_line 'oclcc --help=a'
complete_line 'oclcc --diagnostics-format s'
complete_line 'oclcc --emit c'
touch kernel.cl
mkdir kernels
complete_line 'oclcc --info kernel.'
complete_line 'oclcc -o kernel.'
complete_line 'oclcc -I ker'
# expected output:
#| the same
#| --strip-answers
#| --strip-data
#| --strip-measurements
#| --strip-reflection
#| --strip-signature
#| --strip-source
#| always
#| auto
#| all
#| sarif
#| c
#| clbin
#| cubin
#| kernel.cl
#| kernel.cl
#| kernels
