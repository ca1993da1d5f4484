#!/bin/bash
# Nothing but source is left, and of what has none, nothing.
make_bundle sample s.clbin
oclcc --strip --drop-target "*" s.clbin -o b.clbin
oclcc --info b.clbin | grep -v digest
