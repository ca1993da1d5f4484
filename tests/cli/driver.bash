# For tests that need a driver: source "$CLI_TESTS/driver.bash".

# "0:0 1:0": the devices of the tests' platforms.
devices=$(oclcc --list-devices | awk '{print $1}')
if [ -z "$devices" ]; then
  echo "there is no OpenCL device"
  exit 77
fi

# Prints the number of a device whose platform's name contains $1, or skips the test.
device_of() {
  local number
  number=$(oclcc --list-devices | grep -i -F -- "$1" | awk 'NR == 1 {print $1}')
  if [ -z "$number" ]; then
    echo "there is no $1 device" > skip_reason
    return 1
  fi
  echo "$number"
}

# newer FILE OTHER: touches FILE until its time is later than OTHER's, even if the file system's
# times are coarse.
newer() { until touch "$1" && [ "$1" -nt "$2" ]; do sleep 0.01; done; }

# entries BUNDLE: prints the number of device binaries in it.
entries() { oclcc --info "$1" | grep -c '^  entry'; }
device_count=$(echo "$devices" | wc -l)
