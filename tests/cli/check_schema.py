#!/usr/bin/env python3
"""check_schema.py SCHEMA: checks the JSON on standard input. Supports the part of JSON Schema that
the schemas of oclcc/schema use. An unknown keyword is an error."""

import json
import re
import sys

ANNOTATIONS = {"$schema", "$defs", "title", "description"}
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def is_type(value, name):
    if name in ("integer", "number") and isinstance(value, bool):
        return False
    return isinstance(value, TYPES[name])


class Checker:
    def __init__(self, schema):
        self.root = schema
        self.problems = []

    def fails(self, value, schema):
        other = Checker(self.root)
        other.check(value, schema, "")
        return bool(other.problems)

    def check(self, value, schema, path):
        for keyword, wanted in schema.items():
            if keyword in ANNOTATIONS:
                continue
            method = getattr(self, "check_" + keyword.strip("$"), None)
            if method is None:
                self.problems.append(f"schema: keyword {keyword} is not known here")
            else:
                method(value, wanted, path, schema)

    def expect(self, condition, path, text):
        if not condition:
            self.problems.append(f"{path or 'document'}: {text}")

    def check_ref(self, value, wanted, path, _):
        target = self.root
        for part in wanted.removeprefix("#/").split("/"):
            target = target[part]
        self.check(value, target, path)

    def check_type(self, value, wanted, path, _):
        names = wanted if isinstance(wanted, list) else [wanted]
        self.expect(any(is_type(value, name) for name in names), path, f"is no {names}: {value!r}")

    def check_minimum(self, value, wanted, path, _):
        self.expect(not is_type(value, "number") or value >= wanted, path, f"is below {wanted}")

    def check_const(self, value, wanted, path, _):
        self.expect(value == wanted, path, f"is {value!r}, not {wanted!r}")

    def check_enum(self, value, wanted, path, _):
        self.expect(value in wanted, path, f"{value!r} is none of {wanted}")

    def check_pattern(self, value, wanted, path, _):
        self.expect(
            not isinstance(value, str) or re.search(wanted, value),
            path,
            f"{value!r} does not match {wanted}",
        )

    def check_anyOf(self, value, wanted, path, _):
        self.expect(any(not self.fails(value, option) for option in wanted), path, "fits no option")

    def check_required(self, value, wanted, path, _):
        for name in wanted if isinstance(value, dict) else ():
            self.expect(name in value, path, f"has no '{name}'")

    def check_properties(self, value, wanted, path, _):
        for name in value if isinstance(value, dict) else ():
            if name in wanted:
                self.check(value[name], wanted[name], f"{path}.{name}")

    def check_additionalProperties(self, value, wanted, path, schema):
        for name in value if isinstance(value, dict) else ():
            if name in schema.get("properties", {}):
                continue
            if wanted is False:
                self.expect(False, path, f"may not have '{name}'")
            else:
                self.check(value[name], wanted, f"{path}.{name}")

    def check_items(self, value, wanted, path, _):
        for i, item in enumerate(value if isinstance(value, list) else ()):
            self.check(item, wanted, f"{path}[{i}]")

    def check_minItems(self, value, wanted, path, _):
        self.expect(not isinstance(value, list) or len(value) >= wanted, path, "is too short")

    def check_maxItems(self, value, wanted, path, _):
        self.expect(not isinstance(value, list) or len(value) <= wanted, path, "is too long")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        checker = Checker(json.load(file))
    checker.check(json.load(sys.stdin), checker.root, "")
    print("\n".join(checker.problems) if checker.problems else "fits the schema")
    return 1 if checker.problems else 0


if __name__ == "__main__":
    sys.exit(main())
