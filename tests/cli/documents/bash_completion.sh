#!/bin/bash
# Bash completes exactly the options that --help lists, and values and files.
# shellcheck source=/dev/null
source "$ROOT/oclcc/completion/oclcc.bash"
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
