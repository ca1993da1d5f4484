#!/usr/bin/env python3
"""compare_help_and_manual.py HELP EXIT_CODES MANUAL [MANUAL…]: prints what is missing in one of them.

The options may stand in any of the pages, the exit statuses in the first."""

import re
import sys
from pathlib import Path


def option_words(text):
    """Spellings at the front of a description: "-o, --output FILE" has "-o" and "--output"."""
    words = set()
    for part in text.split(","):
        match = re.match(r"\s*(--?[A-Za-z#][A-Za-z0-9#-]*)", part)
        if match:
            words.add(match.group(1))
    return words


def options_of_help(text):
    words = set()
    for line in text.splitlines():
        if line.startswith("    -") and not line.startswith("     "):
            words |= option_words(re.split(r"\s{2,}", line.strip())[0])
    return words


def manual_items(text, section):
    """Returns the text after each .It in a section of an mdoc page."""
    inside = False
    for line in text.splitlines():
        if line.startswith(".Sh"):
            inside = line[4:].strip() == section
        elif inside and line.startswith(".It "):
            yield line[4:]


def options_of_manual(text):
    """ ".It Fl o Ar FILE , Fl -output Ar FILE" has "-o" and "--output"; "Fl \\&Os" has "-Os"."""
    words = set()
    for item in manual_items(text, "OPTIONS"):
        words |= set(re.findall(r"\bFl (?:\\&)?(-?[A-Za-z#][A-Za-z0-9#-]*)", item))
    return {"-" + word for word in words}


def main():
    help_text, header, *pages = (Path(path).read_text(encoding="utf-8") for path in sys.argv[1:])
    problems = []
    in_help = options_of_help(help_text)
    in_manual = set().union(*map(options_of_manual, pages))
    for word in sorted(in_help - in_manual):
        problems.append(f"{word} is in --help and not in the manual page")
    for word in sorted(in_manual - in_help):
        problems.append(f"{word} is in the manual page and not in --help")
    codes = set(re.findall(r"^  \w+ = (\d+),", header, re.MULTILINE))
    statuses = {item.split()[0] for item in manual_items(pages[0], "EXIT STATUS")}
    if not codes or codes != statuses:
        problems.append(f"exit_code.hpp has {sorted(codes)}, the manual page {sorted(statuses)}")
    in_help_status = set(re.findall(r"\b(\d) [a-z]", help_text.split("Exit status:")[1]))
    if codes != in_help_status:
        problems.append(f"exit_code.hpp has {sorted(codes)}, --help {sorted(in_help_status)}")
    if len(in_help) < 20:
        problems.append("--help could not be read")
    print("\n".join(problems) if problems else "the same")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
