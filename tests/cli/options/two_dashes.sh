#!/bin/bash
# After "--" everything is an input.
oclcc -- --help
