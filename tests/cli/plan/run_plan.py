#!/usr/bin/env python3
"""run_plan.py PLAN.json: runs a plan as an engine does, in any order of the units.

Checks that every file named in the plan is where the plan says, before and after its command.
"""

import json
import os
import random
import subprocess
import sys


def run(step):
    assert not os.path.exists(step["output"]), step["output"]
    subprocess.run(step["command"], check=True)
    assert os.path.isfile(step["output"]), step["output"]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    keys = {unit["key"] for unit in plan["units"]}
    assert len(keys) == len(plan["units"])
    assert os.path.isfile(plan["merge_list"]) and (
        not plan["ready"] or os.path.isfile(plan["ready"])
    )
    random.shuffle(plan["units"])
    for unit in plan["units"]:
        assert unit["key"] in os.path.basename(unit["output"])
        assert all(os.path.isfile(path) for path in unit["inputs"])
        run(unit)
    for step in plan["steps"]:
        run(step)
    print(f"{len(plan['units'])} built, {plan['cached_units']} cached, inputs {plan['inputs']}")


if __name__ == "__main__":
    main()
