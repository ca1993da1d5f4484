#!/bin/bash
# Finds every flipped bit and every cut. The message names the file.
make_bundle unit 0 s.clbin
size=$(stat -c %s s.clbin)
for ((at = 0; at < size; at += 97)); do
  cp s.clbin d.clbin
  byte=$(od -An -tu1 -j "$at" -N 1 s.clbin)
  printf "\\\\x$(printf %x $((byte ^ 1)))" | dd of=d.clbin bs=1 seek="$at" conv=notrunc status=none
  oclcc --verify d.clbin 2> message
  status=$?
  grep -q "^oclcc: error: d.clbin: " message || { echo "at $at:"; cat message; }
  [ $status = 4 ] || echo "at $at: exit $status"
  head -c "$at" s.clbin > d.clbin
  oclcc --verify d.clbin 2> message
  status=$?
  grep -q "^oclcc: error: d.clbin: " message || { echo "cut at $at:"; cat message; }
  [ $status = 4 ] || echo "cut at $at: exit $status"
done
