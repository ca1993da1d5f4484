#!/bin/bash
# SPIR-V modules are accepted as inputs. A bundle contains them unchanged, with their reflection.
export OCL_ICD_VENDORS=/nonexistent OPENCL_VENDOR_PATH=/nonexistent
binaries=$ROOT/tests/unit/format/binaries
cp "$binaries/spec_constants.spv" "$binaries/arguments.spv" .
oclcc=$(command -v oclcc)
PATH=/nonexistent "$oclcc" spec_constants.spv -cl-mad-enable -cl-std=CL2.0 -DX=1 -o one.clbin && oclcc --info -v one.clbin
oclcc --info --json one.clbin | python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json"
oclcc --verify one.clbin
oclcc --extract one.clbin -o files && cmp files/*.spv spec_constants.spv && echo "the same module"
oclcc spec_constants.spv --program other=arguments.spv -MD -o two.clbin && oclcc --info -v two.clbin | grep '^program'
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
# expected output:
#| one.clbin: bundle of format 1.0, 1 entry, * bytes
#|   digest    *
#|
#| program 'spec_constants', variant 'default'
#|   options   -cl-mad-enable
#|   source    not kept
#|   entry     SPIR-V 1.2
#|     target    spirv:1.2:32
#|     size      640 bytes, * stored
#|     digest    a5fff78d8e6eebda4f93d2c1e59b020f2a4d1cf81748cd674ce1b18b00a5cce9
#|     requires  Addresses Kernel Int64 Int16 Int8 Float64 SubgroupDispatch
#|     kernel    scale(global volatile int* restrict values)
#|                 work-group of 8x4x1
#|     constant  0: bool, default 0x1
#|     constant  1: bool, default 0x0
#|     constant  3: char, default 0xc8
#|     constant  4: long, default 0x123456789abcdef0
#|     constant  7: int width, default 0x4
#|     constant  9: double factor, default 0x3fe0000000000000
#| fits the schema
#| the same module
#| program 'other', variant 'default'
#| program 'spec_constants', variant 'default'
#| two.clbin: spec_constants.spv arguments.spv
#| the same bundle
#| the same copy
#| exit 3
#| exit 2
#| arguments.spv
#| commands
#| cut.spv
#| garbage.spv
#| spec_constants.spv
# expected errors:
#| oclcc: error: cut.spv: SPIR-V module: instruction at offset 40 needs 4 bytes, 0 are left
#| oclcc: error: garbage.spv: SPIR-V module: version 0x62726167 is malformed
#| oclcc: error: 'arguments.spv' is both an input and the output
