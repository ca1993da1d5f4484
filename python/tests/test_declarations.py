"""Compares the declarations of the package with clbin.h. Needs a C compiler and CLBIN_HEADER."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from clbin import _enums, _library

HEADER = os.environ.get("CLBIN_HEADER", "")

ENUMS = {
    "clbin_status": (_enums.Status, "CLBIN_ERROR_"),
    "clbin_answers": (_enums.Answers, "CLBIN_ANSWERS_"),
    "clbin_fallback": (_enums.Fallback, "CLBIN_FALLBACK_"),
    "clbin_origin": (_enums.Origin, "CLBIN_ORIGIN_"),
    "clbin_decision": (_enums.Decision, "CLBIN_DECISION_"),
    "clbin_rule": (_enums.Rule, "CLBIN_RULE_"),
    "clbin_signature_policy": (_enums.SignaturePolicy, "CLBIN_SIGNATURES_"),
    "clbin_switch": (_enums.Switch, "CLBIN_SWITCH_"),
    "clbin_key_kind": (_enums.KeyKind, "CLBIN_KEY_"),
}
STRUCTS = {
    "clbin_key": _library.KeyStruct,
    "clbin_key_request": _library.KeyRequestStruct,
    "clbin_open_options": _library.OpenOptions,
    "clbin_group": _library.GroupStruct,
    "clbin_entry": _library.EntryStruct,
    "clbin_kernel": _library.KernelStruct,
    "clbin_argument": _library.ArgumentStruct,
    "clbin_identity": _library.IdentityStruct,
    "clbin_selection_info": _library.SelectionStruct,
    "clbin_report_info": _library.ReportStruct,
    "clbin_attempt": _library.AttemptStruct,
    "clbin_specialization_constant": _library.ConstantStruct,
    "clbin_load_options": _library.LoadOptionsStruct,
    "clbin_warmed": _library.WarmedStruct,
    "clbin_builder_options": _library.BuilderOptions,
    "clbin_source": _library.Source,
}
# What clbin.h declares and Python does not use.
UNUSED_FUNCTIONS = set()
UNUSED_ENUMS = {"clbin_presence"}  # Python opens bundles itself
UNUSED_STRUCTS = set()


@pytest.fixture(scope="module")
def text():
    if not HEADER:
        pytest.skip("CLBIN_HEADER does not name clbin.h")
    return re.sub(r"/\*.*?\*/", "", pathlib.Path(HEADER).read_text(), flags=re.DOTALL)


def functions_of(text):
    """Maps each function to its result and its parameters, without their names."""
    found = re.findall(r"^CLBIN_API ([^;(]*?[ *])(clbin_\w+)\(([^;]*)\);", text, re.MULTILINE)
    result = {}
    for kind, name, parameters in found:
        each = [] if parameters == "void" else re.split(r",\s*", parameters)
        result[name] = (kind.strip(), [" ".join(one.split()) for one in each])
    return result


def c_kind(ctype):
    """Returns the class of a ctypes type: what a mistake would break."""
    if ctype is None:
        return "void"
    if ctype is ctypes.c_char_p:
        return "char*"
    if ctype is ctypes.c_void_p or hasattr(ctype, "contents") or hasattr(ctype, "_restype_"):
        return "pointer"
    return f"{'signed' if ctype(-1).value < 0 else 'unsigned'} {ctypes.sizeof(ctype)}"


def header_kind(declaration):
    if declaration == "void":
        return "void"
    if re.search(r"const char\s*\*\s*\w*$", declaration):
        return "char*"
    if (
        "*" in declaration
        or "[" in declaration
        or re.search(r"_(function|callback)\b", declaration)
    ):
        return "pointer"
    for word, kind in {
        "uint64_t": "unsigned 8",
        "size_t": "unsigned 8",
        "uint32_t": "unsigned 4",
        "int32_t": "signed 4",
        "int": "signed 4",
    }.items():
        if re.match(rf"{word}\b", declaration):
            return kind
    assert re.match(r"clbin_\w+\b", declaration), declaration
    return "signed 4"  # an enum, which has the size of int


def test_declares_every_function_of_the_header(text):
    in_header = set(functions_of(text))
    assert len(in_header) > 30
    assert set(_library.FUNCTIONS) == in_header - UNUSED_FUNCTIONS


def test_declares_parameters_and_results_as_the_header_does(text):
    for name, (result, parameters) in functions_of(text).items():
        if name in UNUSED_FUNCTIONS:
            continue
        ours_result, *ours = _library.FUNCTIONS[name]
        assert c_kind(ours_result).replace("char*", "pointer") == header_kind(result).replace(
            "char*", "pointer"
        ), name
        assert [c_kind(each) for each in ours] == [header_kind(each) for each in parameters], name


def test_declares_every_enum_and_struct_of_the_header(text):
    enums = set(re.findall(r"^typedef enum (\w+) \{", text, re.MULTILINE))
    structs = set(re.findall(r"^typedef struct (\w+) \{", text, re.MULTILINE))
    assert set(ENUMS) == enums - UNUSED_ENUMS
    assert set(STRUCTS) == structs - UNUSED_STRUCTS


def enumerators_of(text, name):
    body = re.search(rf"^typedef enum {name} \{{(.*?)\}}", text, re.MULTILINE | re.DOTALL).group(1)
    return re.findall(r"\b(CLBIN_\w+)\b", body)


def fields_of(text, name):
    body = re.search(rf"^typedef struct {name} \{{(.*?)\}}", text, re.MULTILINE | re.DOTALL).group(
        1
    )
    return re.findall(r"(\w+)(?:\[\d+\])?;", body)


def test_has_the_numbers_sizes_and_offsets_that_the_c_compiler_has(text, tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    lines, expected = [], []
    for name, (ours, prefix) in ENUMS.items():
        enumerators = enumerators_of(text, name)
        assert len(enumerators) == len(ours), name
        for enumerator in enumerators:
            lines.append(f'printf("%d\\n", (int){enumerator});')
            short = "SUCCESS" if enumerator == "CLBIN_SUCCESS" else enumerator[len(prefix) :]
            expected.append((enumerator, ours[short].value))
    for name, ours in STRUCTS.items():
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        expected.append((name, ctypes.sizeof(ours)))
        fields = fields_of(text, name)
        assert fields == [field for field, _ in ours._fields_]
        for field in fields:
            lines.append(f'printf("%zu\\n", offsetof({name}, {field}));')
            expected.append((f"{name}.{field}", getattr(ours, field).offset))
    program = tmp_path / "numbers.c"
    program.write_text(
        f'#include "{HEADER}"\n#include <stdio.h>\nint main(void) {{\n' + "\n".join(lines) + "\n}\n"
    )
    subprocess.run([compiler, "-o", tmp_path / "numbers", program], check=True)
    printed = subprocess.run([tmp_path / "numbers"], check=True, capture_output=True, text=True)
    numbers = [int(line) for line in printed.stdout.split()]
    assert list(zip([what for what, _ in expected], numbers)) == expected


def test_has_the_exit_statuses_of_the_command():
    folder = os.environ.get("CLBIN_SOURCE", "")
    if not folder:
        pytest.skip("CLBIN_SOURCE does not name the sources")
    code = (pathlib.Path(folder) / "oclcc/terminal/exit_code.hpp").read_text()
    numbers = {int(number) for number in re.findall(r"^\s+\w+ = (\d+)", code, re.MULTILINE)}
    assert numbers == {each.value for each in _enums.ExitStatus}
