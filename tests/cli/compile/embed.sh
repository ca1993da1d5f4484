#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
# Embedding in one step writes the same bytes as embedding a bundle.
set -e
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl -o k.clbin
for form in h c s o; do
  oclcc k.clbin -o "two_steps.$form" --symbol k_clbin
  oclcc k.cl -o "k.$form"
done
for form in c s o; do
  cmp "k.$form" "two_steps.$form" && echo "$form same"
done
cmp k.h two_steps.h && echo "h same"
# expected output:
#| c same
#| s same
#| o same
#| h same
