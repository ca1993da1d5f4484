#!/bin/bash
# Keeps only source, and nothing of programs without source.
make_bundle sample s.clbin
oclcc --strip --drop-target "*" s.clbin -o b.clbin
oclcc --info b.clbin | grep -v digest
