#!/usr/bin/env python3
"""Checks the sources that a build has not compiled: .ci/check_rest.py BUILD_DIRECTORY

A sanitizer build compiles only the programs that CI runs with it. For all other sources of the target
`all`, this script runs the compiler without generating code, so that warnings in them are errors too.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys

OBJECT = re.compile(r" -o (\S+) ")


def remaining_commands(build):
    """Returns the compile commands of `all` whose object files do not exist."""
    inputs = subprocess.run(
        ["ninja", "-C", build, "-t", "inputs", "all"], capture_output=True, text=True, check=True
    ).stdout.split()
    wanted = {name for name in inputs if not os.path.exists(os.path.join(build, name))}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = [entry["command"] for entry in json.load(file)]
    return [command for command in commands if OBJECT.search(command).group(1) in wanted]


def problems_of(build, command):
    """Returns what the compiler prints about the source, or "" if it accepts the source."""
    command = OBJECT.sub(" -fsyntax-only ", command)
    run = subprocess.run(
        command,
        shell=True,
        cwd=build,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return "" if run.returncode == 0 else f"{command}\n{run.stdout}{run.stderr}"


def main():
    build = sys.argv[1]
    commands = remaining_commands(build)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = list(
            filter(None, pool.map(lambda command: problems_of(build, command), commands))
        )
    print("".join(problems), end="")
    print(f"check_rest: {len(commands)} sources checked, {len(problems)} with errors")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
