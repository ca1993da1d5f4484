# Sources with odd names and options, and some offline targets and each device as targets:
# source "$CLI_TESTS/plan/sources.bash" [one_platform]. With the word one_platform, these are the
# devices of a single platform, because each unit of a plan starts every driver that it sees.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" "$@"
mkdir "in c"
echo '#include <h.h>
kernel void a(global float* p) { *p = X; }' > "a|\$b's.cl"
echo 'kernel void b(global float* p) { *p = Y; }' > b.cl
echo '#define Y 2' > 'in c/h.h'
# Macros with quotes and spaces change the text of a program, for every variant and device.
# shellcheck disable=SC2016 # $HOME is a part of the name
words=("a|\$b's.cl" --program "c=b.cl" -I "in c" -include h.h '-DX="it'"'"'s $HOME"[0]'
       --variant one= --variant 'two=-w -DZ="a  b"' --specialize b=4
       --device-option "${devices%%$'\n'*}=-DW='1  2'")
for device in $devices; do words+=(--device "$device"); done
units=$((4 * device_count))
if oclcc --list-targets | grep -q -x spirv:1.2; then
  words+=(--target "spirv:1.0,1.2")
  units=$((units + 8))
fi
# Expands in the messages of a test to what does not depend on the machine.
counts() { sed "s/\b$units\b/ALL/"; }
