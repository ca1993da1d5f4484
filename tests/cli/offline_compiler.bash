# For tests of cl_offline_compiler: source "$CLI_TESTS/offline_compiler.bash".
offline_compiler=$ROOT/oclcc/cl_offline_compiler

# device_info NAME FILE [LINE...]: writes the device description of the conformance suite.
device_info() {
  local name=$1 file=$2
  shift 2
  printf '%s\n' '# OpenCL device info affecting binary offline compilation:' \
    CL_DEVICE_ADDRESS_BITS=64 'CL_DEVICE_EXTENSIONS="cl_khr_fp64 cl_khr_byte_addressable_store"' \
    'CL_DEVICE_VERSION="OpenCL 1.2 "' CL_DEVICE_IMAGE_SUPPORT=1 "CL_DEVICE_NAME=\"$name\"" "$@" \
    > "$file"
}

# Prints the names of the installed devices, one per line.
device_names() {
  oclcc --list-devices --json |
    python3 -c 'import json, sys; [print(d["device_name"]) for d in json.load(sys.stdin)["devices"]]'
}
