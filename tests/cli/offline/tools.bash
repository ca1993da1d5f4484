# For tests that compile with real tools: source "$CLI_TESTS/offline/tools.bash".

# Makes the driver unavailable: an offline target that starts one fails.
export OCL_ICD_VENDORS=/nonexistent OPENCL_VENDOR_PATH=/nonexistent

# The clang of the offline targets that are usable: oclcc prefers the first.
clang=$(command -v clang-15 || command -v clang-19 || true)

# needs TARGET: skips the test unless the tools of TARGET are installed. CI requires them.
needs() {
  if ! oclcc --list-targets | grep -q -x -- "$1"; then
    oclcc --list-targets | grep -- "^$1 "
    exit 77
  fi
}
