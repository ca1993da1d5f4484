#!/bin/bash
# The recorded facts of kernels are the same as NVIDIA's driver 580.159.04 reported for the same
# source on an H200 (nvidia_answers.json).
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
oclcc "$CLI_TESTS/offline/nvidia_answers.cl" --target nvptx:sm_70 -o k.clbin || exit
oclcc --info --json k.clbin > k.json
python3 - "$CLI_TESTS/offline/nvidia_answers.json" <<'END'
import json, sys

with open(sys.argv[1], encoding="utf-8") as file:
    answers = json.load(file)
with open("k.json", encoding="utf-8") as file:
    [bundle] = json.load(file)["bundles"]
[entry] = bundle["groups"][0]["entries"]
for kernel in entry["kernels"]:
    for name, answer in answers.pop(kernel["name"]).items():
        if kernel[name] != answer:
            print(f"{kernel['name']}: {name} is {kernel[name]}, the driver answers {answer}")
print("not compiled:", sorted(answers))
END
# expected output:
#| not compiled: []
