#!/bin/bash
cp /bin/true true.cl
oclcc true.cl
