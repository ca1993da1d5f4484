#!/bin/bash
echo 'kernel void k() {}' > k.cl
oclcc -include none.h k.cl
