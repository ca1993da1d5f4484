#!/bin/bash
# Fish completes exactly the options that --help lists, and values and files.
command -v fish > /dev/null || { echo "there is no fish"; exit 77; }
# shellcheck source=tests/cli/documents/options_of_help.bash
source "$CLI_TESTS/documents/options_of_help.bash"
complete_line() { fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$ROOT/oclcc/completion/oclcc.fish" "$1" | cut -f1; }
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
