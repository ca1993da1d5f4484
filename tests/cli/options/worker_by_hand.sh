#!/bin/bash
# --worker is for oclcc itself.
oclcc --worker
