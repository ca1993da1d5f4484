#!/bin/bash
# SPIR-V modules are accepted as inputs. A bundle contains them unchanged, with their reflection.
export OCL_ICD_VENDORS=/nonexistent OPENCL_VENDOR_PATH=/nonexistent
binaries=$ROOT/tests/unit/format/binaries
cp "$binaries/spec_constants.spv" "$binaries/arguments.spv" .
oclcc=$(command -v oclcc)
PATH=/nonexistent "$oclcc" spec_constants.spv -cl-mad-enable -cl-std=CL2.0 -DX=1 -o one.clbin && oclcc --info one.clbin
oclcc --info --json one.clbin | python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json"
oclcc --verify one.clbin
oclcc --extract one.clbin -o files && cmp files/*.spv spec_constants.spv && echo "the same module"
oclcc spec_constants.spv --program other=arguments.spv -MD -o two.clbin && oclcc --info two.clbin | grep '^program'
cat two.d
oclcc '-###' spec_constants.spv --program other=arguments.spv -o two.clbin 2> commands
mv two.clbin one_run.clbin
tail -n +2 commands | sh -e && cmp two.clbin one_run.clbin && echo "the same bundle"
oclcc arguments.spv -o copy.spv && cmp copy.spv arguments.spv && echo "the same copy"
rm -r files copy.spv ./*.clbin ./*.d

head -c 40 arguments.spv > cut.spv
printf '\003\002\043\007garbage that is longer than a header' > garbage.spv
oclcc arguments.spv cut.spv garbage.spv -o bad.clbin; echo "exit $?"
oclcc arguments.spv -o arguments.spv; echo "exit $?"
ls
