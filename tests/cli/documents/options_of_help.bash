# source "$CLI_TESTS/documents/options_of_help.bash": what shells are to complete after "-".

# Every option that --help lists, a line each; "-cl-" and "-ffile-prefix-map" stand for what begins so.
options_of_help() {
  oclcc --help=all | grep -oE '^    -.*' | sed -E 's/^ +//; s/  +.*//' |
    grep -oE '(^|, )-[-A-Za-z0-9#]+(=[a-z]+)?' | sed 's/, //' | LC_ALL=C sort -u
}
# As they come from a shell: one a line, once, without a "=" at the end.
sorted() { sed 's/=$//' | LC_ALL=C sort -u; }
