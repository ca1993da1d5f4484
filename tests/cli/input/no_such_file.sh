#!/bin/bash
oclcc none.cl; echo "exit $?"
oclcc one.cl two.cl; echo "exit $?"
ls
