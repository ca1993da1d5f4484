#!/usr/bin/env python3
"""Unpacks the corpora of the fuzz targets, and packs files into them.

    tests/fuzz/seeds.py unpack FOLDER CORPUS…   writes FOLDER/TARGET/SEED for each seed of TARGET.seeds
    tests/fuzz/seeds.py pack FOLDER CORPORA     adds FOLDER/TARGET/SEED to CORPORA/TARGET.seeds, or
                                                replaces the seed of that name

A corpus is a text. A line "NAME:" begins a seed. Each indented line below it is a part of its bytes:
a literal of Python (b'…') or base64. Lines that begin with "#" are comments. They stay above their seed,
and those above the first seed stay at the top.
"""

import ast
import base64
import pathlib
import shutil
import sys


def bytes_of(line):
    return (
        ast.literal_eval(line)
        if line.startswith("b") and line[1] in "'\""
        else base64.b64decode(line)
    )


def read_corpus(path):
    """Returns {name: bytes}, and {name: comments above it}, in which "" is the name of the top."""
    seeds, comments, name, pending = {}, {}, "", ""
    for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
        try:
            if line.startswith("#") or not line:
                pending += line + "\n"
            elif line.startswith("  "):
                seeds[name] += bytes_of(line[2:])
            elif line.endswith(":") and line[:-1] not in seeds and "/" not in line:
                comments[line[:-1] if seeds else ""], pending = pending, ""
                name = line[:-1]
                seeds[name] = b""
            else:
                raise ValueError("neither a new seed nor a part of one")
        except (ValueError, SyntaxError, KeyError) as error:
            sys.exit(f"{path}:{number}: {error}")
    if pending:
        sys.exit(f"{path}: comments without a seed at the end")
    return seeds, comments


def lines_of(data):
    """Text is written as literals, a line each; binary data as base64."""
    literals = [repr(line) for line in data.splitlines(keepends=True)]
    if len(data) <= 64 or sum(map(len, literals)) < 2 * len(data):
        return literals
    text = base64.b64encode(data).decode()
    return [text[at : at + 96] for at in range(0, len(text), 96)]


def unpack(folder, corpora):
    for corpus in corpora:
        seeds, _ = read_corpus(corpus)
        target = folder / corpus.stem
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for name, data in seeds.items():
            (target / name).write_bytes(data)


def pack(folder, corpora):
    for target in sorted(path for path in folder.iterdir() if path.is_dir()):
        path = corpora / (target.name + ".seeds")
        seeds, comments = read_corpus(path) if path.exists() else ({}, {})
        seeds |= {seed.name: seed.read_bytes() for seed in target.iterdir()}
        text = comments.get("", "")
        for name, data in sorted(seeds.items()):
            text += comments.get(name, "") + f"{name}:\n"
            text += "".join(f"  {line}\n" for line in lines_of(data))
        path.write_text(text, encoding="ascii")


def main():
    words = sys.argv[1:]
    paths = [pathlib.Path(word) for word in words[1:]]
    if words[:1] == ["unpack"] and len(paths) > 1:
        unpack(paths[0], paths[1:])
    elif words[:1] == ["pack"] and len(paths) == 2:
        pack(*paths)
    else:
        sys.exit(f"usage: {sys.argv[0]} unpack FOLDER CORPUS… | pack FOLDER CORPORA")


if __name__ == "__main__":
    main()
