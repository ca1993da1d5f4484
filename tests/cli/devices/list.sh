#!/bin/bash
# Prints a line for each device: number, kind, platform, name, driver. -v prints the whole table.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
oclcc --list-devices | grep -v -E '^[0-9]+:[0-9]+  (gpu|cpu|accelerator|custom|other) +[^ ].*[^ ]$'
oclcc --list-devices -v > table
for property in platform 'global memory' 'local memory' clock 'largest work-group' extensions; do
  [ "$(grep -c "^    $property" table)" -ge "$device_count" ] || echo "no $property in -v"
done
