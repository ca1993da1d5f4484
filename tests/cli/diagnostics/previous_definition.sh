#!/bin/bash
# Notes follow the error that they belong to.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
printf 'typedef int t;\n\ntypedef float t;\nkernel void k(global t* a) { *a = 1; }\n' > k.cl
oclcc k.cl 2>&1 | grep -o '^k.cl:[0-9:]*: error: typedef redefinition'
# expected output:
#| k.cl:3:15: error: typedef redefinition
