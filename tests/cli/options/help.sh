#!/bin/bash
oclcc --help
# expected output:
#| Usage: oclcc [options] FILE.cl... [-o BUNDLE]
#|
#| Compiles OpenCL kernels for the installed devices into one bundle.
#|
#|     -o FILE                 write the bundle to FILE
#|     -D NAME[=VALUE]         define a macro
#|     -I DIR                  search DIR for headers
#|     -cl-*                   pass any OpenCL option to every driver
#|     --device PATTERN        compile only for matching devices, such as gpu
#|     --target SPEC           compile for a device that is not here, such as
#|                             nvptx:sm_70 (--list-targets lists them)
#|     --list-devices          list the installed devices
#|     --info BUNDLE...        list the contents of bundles
#|     --explain BUNDLE...     show what each device would load, and why
#|     -v                      report each step and print whole build logs
#|     --help=all              show all options and the exit statuses
#|
#| The manual page oclcc(1) describes every option.
