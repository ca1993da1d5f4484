#!/usr/bin/env python3
"""from_help.py zsh|fish: reads `oclcc --help` and writes the completion for that shell.

    oclcc --help | oclcc/completion/from_help.py zsh > oclcc/completion/_oclcc
    oclcc --help | oclcc/completion/from_help.py fish > oclcc/completion/oclcc.fish

tests/cli/documents compare what is kept with what this writes.
"""

import re
import sys
from dataclasses import dataclass

# What an option's value may be: words, or files, or folders; else anything.
VALUES = {
    "--emit": "clbin ptx cubin spv bin h c o s hpp",
    "--color": "auto always never",
    "--diagnostics-format": "text json sarif",
    "--device": "gpu cpu accelerator all",
    "-x": "cl",
}
REPEATED = ("-D", "-U", "-I", "-include", "-MT", "-MQ", "-cl-", "--program", "--device-option")


@dataclass
class Option:
    spellings: list  # "-o", "--output"; "-cl-" and "-ffile-prefix-map=" are completed as they are
    argument: str  # "FILE"; "": takes none
    optional: bool
    text: str

    def is_prefix(self):
        return self.spellings[0].endswith(("-", "="))

    def is_repeated(self):
        return "given many times" in self.text or self.is_prefix() or self.spellings[0] in REPEATED

    def description(self):
        """The first part of what --help says."""
        ends = r"; |(?<!\.)\. | \(|, such as"
        if not self.text.startswith("with "):
            ends += "|: "
        return re.split(ends, self.text)[0]

    def values(self):
        return next((VALUES[name] for name in self.spellings if name in VALUES), "")


def option_of(head, text):
    match = re.fullmatch(r"(-[^\s=\[*,]+(?:, -[^\s=\[*,]+)*)(\*|\[=\w+\]|[ =].*)?", head)
    if not match:
        sys.exit(f"from_help.py: what is '{head}'?")
    spellings, rest = match.group(1).split(", "), match.group(2) or ""
    if rest == "*":
        return Option(spellings, "", False, text)
    if rest == "=OLD=NEW":
        return Option([name + "=" for name in spellings], "", False, text)
    if rest == "=variant":  # an option of its own
        return Option([spellings[0] + rest], "", False, text)
    return Option(spellings, rest.strip(" =") if rest[:1] != "[" else rest[2:-1], rest[:1] == "[", text)


def options_of(help_text):
    options, head, lines = [], None, []
    for line in help_text.split("\nExit status:")[0].splitlines() + ["    -"]:
        if re.match(r"    -", line):
            if head:
                options.append(option_of(head, " ".join(lines)))
            head, _, first = line.strip().partition("  ")
            lines = [first.strip()] if first else []
        elif line.startswith("      ") and head:
            lines.append(line.strip())
    return options


def zsh_action(option):
    if option.values():
        return f"({option.values()})"
    return {"FILE": "_files", "FOLDER": "_files -/"}.get(option.argument, " ")


def zsh_specs(option):
    """The arguments of _arguments for one option."""
    text = re.sub(r"([\[\]\\])", r"\\\1", option.description()).replace("'", "'\\''")
    star = "*" if option.is_repeated() else ""
    others = "" if star or len(option.spellings) == 1 else f"({' '.join(option.spellings)})"
    for name in option.spellings:
        if option.is_prefix():
            spec = f"{name}-[{text}]:value: "
        elif not option.argument:
            spec = f"{name}[{text}]"
        else:
            message = option.argument.replace("'", "'\\''")
            joined = "=-" if option.optional else "=" if name.startswith("--") else "+" if len(name) < 4 else ""
            colons = "::" if option.optional else ":"
            spec = f"{name}{joined}[{text}]{colons}{message}:{zsh_action(option)}"
        yield f"'{star or others}{spec}'"


def zsh(options):
    specs = [spec for option in options for spec in zsh_specs(option)]
    lines = ["#compdef oclcc", "# Completion of oclcc for zsh, made by from_help.py.", "_arguments \\"]
    return "\n".join(lines + [f"  {spec} \\" for spec in specs] + ["  '*:file:_files'"])


def fish_line(option, name):
    dashes = "-l" if name.startswith("--") else "-s" if len(name) == 2 else "-o"
    words = ["complete -c oclcc", dashes, f"'{name.lstrip('-')}'"]
    if option.values():
        words.append(("-f" if option.optional else "-x") + f" -a '{option.values()}'")
    elif option.argument == "FILE":
        words.append("-r")
    elif option.argument == "FOLDER":
        words.append("-x -a '(__fish_complete_directories)'")
    elif option.argument:
        words.append("-x")
    text = option.description().replace("\\", "\\\\").replace("'", "\\'")
    return " ".join(words + [f"-d '{text}'"])


def fish(options):
    lines = ["# Completion of oclcc for fish, made by from_help.py."]
    return "\n".join(lines + [fish_line(option, name) for option in options for name in option.spellings])


def main():
    shells = {"zsh": zsh, "fish": fish}
    if len(sys.argv) != 2 or sys.argv[1] not in shells:
        sys.exit("usage: from_help.py zsh|fish < HELP")
    print(shells[sys.argv[1]](options_of(sys.stdin.read())))


if __name__ == "__main__":
    main()
