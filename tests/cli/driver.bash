# For tests that need a driver: source "$CLI_TESTS/driver.bash". The test sees every platform. If
# another driver cannot change its result, it sees one, because each run of oclcc starts every driver
# that it sees: source "$CLI_TESTS/driver.bash" one_platform. With two_platforms, it sees two, for tests
# of what several devices have in common.
every_platform=$OCL_ICD_VENDORS

# show_platforms COUNT: sees COUNT platforms from here on. The test's name chooses, so that each
# platform has its share of these tests, but PoCL, which takes 15 times as long for a kernel as
# Oclgrind, only if there are no others.
show_platforms() {
  local i chosen drivers=("$every_platform"/*.icd)
  for i in "${!drivers[@]}"; do
    [ ${#drivers[@]} -gt "$1" ] && [[ ${drivers[i]} == */pocl.icd ]] && unset "drivers[i]"
  done
  drivers=("${drivers[@]}")
  chosen=$(($(basename "$0" | cksum | cut -d ' ' -f 1) % ${#drivers[@]}))
  [ -e "${drivers[chosen]}" ] || return 0
  export OCL_ICD_VENDORS=$HOME/platform
  mkdir "$OCL_ICD_VENDORS"
  for ((i = 0; i < $1; i++)); do
    cp "${drivers[(chosen + i) % ${#drivers[@]}]}" "$OCL_ICD_VENDORS"
  done
}
case ${1:-} in
one_platform) show_platforms 1 ;;
two_platforms) show_platforms 2 ;;
esac

# list_devices [FILE.icd]: prints what oclcc --list-devices prints for the platforms that the test sees,
# or for one of them. If run_cli_tests.py has a list, no driver is started for it.
list_devices() {
  local platforms=${1:-$OCL_ICD_VENDORS} list=none
  local files=("$platforms")
  [ -d "$platforms" ] && files=("$platforms"/*.icd)
  if [ ${#files[@]} = 1 ]; then
    list=$(basename "${files[0]}" .icd)
  elif [ "$platforms" = "$every_platform" ]; then
    list=all # of some platforms there is none: the loader numbers them in the folder's order
  fi
  if [ -n "$DEVICE_LISTS" ] && [ -e "$DEVICE_LISTS/$list" ]; then
    cat "$DEVICE_LISTS/$list"
  else
    OCL_ICD_VENDORS=$platforms oclcc --list-devices
  fi
}

# "0:0 1:0": the devices of the test's platforms.
devices=$(list_devices | awk '{print $1}')
if [ -z "$devices" ]; then
  echo "there is no OpenCL device"
  exit 77
fi

# Prints the number of a device whose platform's name contains $1, or skips the test.
device_of() {
  local number
  number=$(list_devices | grep -i -F -- "$1" | awk 'NR == 1 {print $1}')
  if [ -z "$number" ]; then
    echo "there is no $1 device" > skip_reason
    return 1
  fi
  echo "$number"
}

# see_only PLATFORM: sees only the platform whose name contains PLATFORM from here on, and sets
# `device` to its first device, or skips the test. Each run of oclcc starts every driver that it sees.
see_only() {
  local file
  for file in "$every_platform"/*.icd; do
    if list_devices "$file" 2> /dev/null | grep -q -i -F -- "$1"; then
      rm -rf "$HOME/only"
      mkdir "$HOME/only"
      cp "$file" "$HOME/only"
      export OCL_ICD_VENDORS=$HOME/only
      # shellcheck disable=SC2034 # the test reads it
      device=$(device_of "$1")
      return
    fi
  done
  echo "there is no $1 device"
  exit 77
}

# on_each_device COMMAND…: runs the command with the number of each device as its last word. It sees
# the platform of the device alone, because each run of oclcc starts every driver that it sees.
on_each_device() {
  local platform device
  for platform in "$OCL_ICD_VENDORS"/*.icd; do
    for device in $(list_devices "$platform" 2> /dev/null | awk '{print $1}'); do
      OCL_ICD_VENDORS=$platform "$@" "$device"
    done
  done
}

# newer FILE OTHER: touches FILE until its time is later than OTHER's, even if the file system's
# times are coarse.
newer() { until touch "$1" && [ "$1" -nt "$2" ]; do sleep 0.01; done; }

# entries BUNDLE: prints the number of device binaries in it.
entries() { oclcc --info -v "$1" | grep -c '^  entry'; }
device_count=$(echo "$devices" | wc -l)
