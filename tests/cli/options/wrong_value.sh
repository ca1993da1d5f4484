#!/bin/bash
oclcc -j0 a.cl; echo "exit $?"
oclcc -j many a.cl; echo "exit $?"
oclcc --timeout=-1 a.cl; echo "exit $?"
oclcc --color=red a.cl; echo "exit $?"
oclcc --program a.cl; echo "exit $?"
oclcc --program a= ; echo "exit $?"
oclcc --variant -DX a.cl; echo "exit $?"
oclcc --specialize k=16x a.cl; echo "exit $?"
oclcc --variant v=-Og a.cl; echo "exit $?"
oclcc --variant v=-w --variant v=-w a.cl; echo "exit $?"
oclcc --help=unknown; echo "exit $?"
oclcc --info=yes a.clbin
