#!/bin/bash
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
  status_of oclcc --info good.clbin
  status_of oclcc --diff good.clbin other.clbin
  status_of oclcc --no-such-option
  status_of oclcc --info absent.clbin
  status_of oclcc --info text.clbin
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
