#!/bin/bash
make_bundle sample s.clbin
oclcc --info s.clbin
