#!/usr/bin/env python3
"""find_untested_options.py HELP TESTS: prints the options of --help that no script of TESTS uses."""

import glob
import os
import re
import sys

from compare_help_and_manual import options_of_help

NO_USE = ("documents", os.path.join("options", "help.sh"))


def scripts(folder):
    for path in glob.glob("**/*.sh", root_dir=folder, recursive=True):
        if not path.startswith(NO_USE):
            with open(os.path.join(folder, path), encoding="utf-8", errors="replace") as file:
                # Options in comments do not count.
                yield "\n".join(line for line in file if not line.lstrip().startswith("#"))


def is_used(option, texts):
    # A value may be joined to a one-letter option (-DX), or to one of gcc's two-letter options
    # (-MFfile).
    joined = re.fullmatch(r"-[A-Za-z]|-M[FTQ]", option) and option not in ("-M", "-w", "-q", "-v")
    end = "" if joined or option == "-cl-" else r"(?![\w#-])"
    pattern = re.compile(r"(?<![\w-])" + re.escape(option) + end)
    return any(pattern.search(text) for text in texts)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        options = options_of_help(file.read())
    texts = list(scripts(sys.argv[2]))
    untested = [option for option in sorted(options) if not is_used(option, texts)]
    for option in untested:
        print(f"no test uses {option}")
    if len(options) < 20:
        print("--help could not be read")
    if is_used("--no-such-option-of-oclcc", texts):
        print("every option is taken for used")
    print(f"{len(untested)} options without a test")
    return 1 if untested else 0


if __name__ == "__main__":
    sys.exit(main())
