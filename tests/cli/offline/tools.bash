# For tests that compile with real tools: source "$CLI_TESTS/offline/tools.bash".

# No driver: an offline target that starts one finds none.
export OCL_ICD_VENDORS=/nonexistent OPENCL_VENDOR_PATH=/nonexistent

# needs TARGET: skips the test unless the tools of TARGET are installed. In CI they are.
needs() {
  if ! oclcc --list-targets | grep -q -x -- "$1"; then
    oclcc --list-targets | grep -- "^$1 "
    exit 77
  fi
}
