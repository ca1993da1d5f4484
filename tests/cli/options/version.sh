#!/bin/bash
oclcc --version
# expected output:
#| oclcc *.*.*
#| zstd *.*.*
