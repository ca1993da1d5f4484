#!/bin/bash
oclcc none.cl; echo "exit $?"
oclcc one.cl two.cl -o out.clbin; echo "exit $?"
ls
