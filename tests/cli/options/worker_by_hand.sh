#!/bin/bash
# --worker is for oclcc itself.
oclcc --worker
# expected exit status: 2
# expected errors:
#| oclcc: error: --worker is reserved: oclcc starts its worker processes with it
