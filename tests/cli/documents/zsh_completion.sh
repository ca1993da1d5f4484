#!/bin/bash
# Zsh completes exactly the options that --help lists, and values and files.
command -v zsh > /dev/null || { echo "there is no zsh"; exit 77; }
# shellcheck source=tests/cli/documents/options_of_help.bash
source "$CLI_TESTS/documents/options_of_help.bash"
complete_line() {
  : > hits
  TERM=dumb zsh -f "$CLI_TESTS/documents/complete_line.zsh" "$ROOT/oclcc/completion" "$1" hits
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
