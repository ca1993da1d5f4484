#!/usr/bin/env python3
"""Checks that every file that a text of this repository refers to exists in the repository.

    .ci/check_citations.py [ROOT]

Pages (*.md) are named from the root or from the folder of the text; anything else that begins with one
of the top-level folders is named from the root. Patterns ("bench/results/*"), globs, and names with a
variable in them are skipped.
"""

import os
import pathlib
import re
import subprocess
import sys

PAGE = re.compile(r"(?<![\w/.$*{}<>-])((?:\.\./)*(?:[\w-]+/)*[\w-]+\.md)\b")
FILE = re.compile(
    r"(?<![\w/.$*{}<>-])((?:\.ci|bench|cmake|doc|examples|kernels|man|oclcc|libclbin|python|runtime_demo|script|tests)"
    r"/(?:[\w.-]+/)*[\w.-]*\w\.(?:md|txt|svg|py|cpp|hpp|sh|cmake|[1357]))\b(?![*{<$/])"
)
# Only texts that people read. Build files also name files that the build creates.
CITING = (".cpp", ".hpp", ".h", ".c", ".py", ".sh", ".md", ".1", ".3", ".5", ".7", ".txt", ".cl")
# Texts of other programs, and texts that tests or users create.
FOREIGN = ("tests/golden/", "bench/results/")


def is_cited_file_there(text_path, name, files):
    from_folder = os.path.normpath(os.path.join(os.path.dirname(text_path), name))
    return name in files or from_folder in files


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    listed = subprocess.run(
        ["git", "-C", root, "ls-files"], capture_output=True, text=True, check=True
    )
    files = set(listed.stdout.split("\n"))
    texts = [path for path in files if path.endswith(CITING) and not path.startswith(FOREIGN)]
    problems = []
    for path in sorted(texts):
        for number, line in enumerate(
            (root / path).read_text(encoding="utf-8", errors="replace").split("\n"), 1
        ):
            names = set(PAGE.findall(line)) | set(FILE.findall(line))
            problems += [
                f"{path}:{number}: '{name}' is not in this repository"
                for name in sorted(names)
                if not is_cited_file_there(path, name, files)
            ]
    for problem in problems:
        print(f"check_citations: {problem}")
    print(f"check_citations: {len(texts)} texts")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
