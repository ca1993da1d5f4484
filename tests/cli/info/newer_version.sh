#!/bin/bash
make_bundle newer n.clbin
oclcc --info n.clbin
