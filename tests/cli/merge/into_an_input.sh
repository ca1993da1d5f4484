#!/bin/bash
# The output may be one of the inputs: all are read before it is written.
make_bundle unit 0 all.clbin
make_bundle unit 1 one.clbin
oclcc --merge all.clbin one.clbin -o all.clbin; echo "exit $?"
oclcc --info all.clbin | grep target
# expected output:
#| exit 0
#|     target    nvptx:sm_50
#|     target    nvptx:sm_70
