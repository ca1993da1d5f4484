#!/bin/bash
# Removes entries by pattern. The result is a valid bundle.
make_bundle sample s.clbin
left() { oclcc --info "$1" | grep -E "^program|^    (target|device)" ; }
oclcc --strip --drop-target "nvptx:*" s.clbin -o b.clbin; echo "exit $?"
left b.clbin
oclcc --strip --drop-target CPU s.clbin -o b.clbin; echo "exit $?"
left b.clbin
oclcc --strip --drop-target "sm_[57]0" --drop-target cpu-a s.clbin -o b.clbin; echo "exit $?"
left b.clbin
oclcc --strip --drop-target sm_7 s.clbin -o b.clbin; echo "exit $?"
cmp s.clbin b.clbin
