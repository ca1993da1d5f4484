# source "$CLI_TESTS/documents/options_of_help.bash": the options that shells must complete after
# "-".

# Prints every option that --help lists, one per line. "-cl-" and "-ffile-prefix-map" represent all
# options with these prefixes.
options_of_help() {
  oclcc --help=all | grep -oE '^    -.*' | sed -E 's/^ +//; s/  +.*//' |
    grep -oE '(^|, )-[-A-Za-z0-9#]+(=[a-z]+)?' | sed 's/, //' | LC_ALL=C sort -u
}
# Converts a shell's completions: one per line, without duplicates, without a "=" at the end.
sorted() { sed 's/=$//' | LC_ALL=C sort -u; }
