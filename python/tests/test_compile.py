"""clbin.compile and the console command, over oclcc."""

import os
import pickle
import subprocess
import sys

import pytest

import clbin


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def test_returns_the_bytes_or_writes_a_file(tmp_path):
    source = write(tmp_path, "k.cl", "kernel void k(global int* v) { v[0] = N; }\n")
    compiled = clbin.compile(source, options=["-DN=3", "--source-only"])
    assert compiled.output is None
    with clbin.Bundle(compiled.data) as bundle:
        assert bundle.programs["k"].variants["default"].options == "-DN=3"
    path = tmp_path / "k.clbin"
    compiled = clbin.compile(
        [str(source)], output=path, options="-DN=3 --source-only", variants={"two": "-DN=2"}
    )
    assert (compiled.output, compiled.data, compiled.diagnostics) == (str(path), b"", ())
    with clbin.Bundle(path) as bundle:
        assert list(bundle.programs["k"].variants) == ["two"]


def test_an_error_has_file_line_and_message(tmp_path, device):
    source = write(tmp_path, "k.cl", "kernel void k(global int* v) {\n  v[0] = unknown;\n}\n")
    with pytest.raises(clbin.CompileError) as caught:
        clbin.compile(source, devices=device.name)
    error = caught.value
    assert (error.file, error.line) == (str(source), 2)
    assert "unknown" in error.message
    assert error.code == clbin.ExitStatus.COMPILE_FAILED
    assert str(error).startswith(f"{source}:2:")
    assert error.diagnostics[0].severity == "error"
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.file, copy.line, copy.diagnostics) == (error.file, 2, error.diagnostics)


def test_returns_warnings(tmp_path, device):
    if device.platform.name == "rusticl":
        pytest.skip("rusticl has no build log unless the build fails")
    text = "#warning take care\nkernel void k(global int* v) { v[0] = 1; }\n"
    compiled = clbin.compile(write(tmp_path, "k.cl", text), devices=device.name)
    assert compiled.data
    assert any(
        each.severity == "warning" and "take care" in each.message and each.line == 1
        for each in compiled.diagnostics
    )


def test_warm_stores_what_a_start_would_build(tmp_path, device, empty_cache):
    source = write(tmp_path, "k.cl", "kernel void k(global int* v) { v[0] = 1; }\n")
    bundle = tmp_path / "k.clbin"
    clbin.compile(source, output=bundle, options="--source-only")
    first, second = (
        clbin.warm(bundle, devices=device.name, specialize={"k": (4,)}) for _ in range(2)
    )
    assert first.endswith(": 0 from the bundle, 0 from the user cache, 1 built\n")
    assert second.endswith(": 0 from the bundle, 1 from the user cache, 0 built\n")
    if device.platform.name == "Portable Computing Language":  # the code of the launch is there
        (entry,) = (empty_cache / "programs").glob("*.clbin")
        assert b"/k/4-1-1" in entry.read_bytes()
    bad = tmp_path / "bad.clbin"
    clbin.compile(
        write(tmp_path, "bad.cl", "kernel void k() { unknown; }\n"),
        output=bad,
        options="--source-only",
    )
    with pytest.raises(clbin.CompileError, match="program 'bad', variant 'default': "):
        clbin.warm([bad, bundle], devices=device.name)


def test_raises_for_a_missing_file_and_a_bad_option(tmp_path):
    with pytest.raises(clbin.CompileError) as caught:
        clbin.compile(tmp_path / "missing.cl", options="--source-only")
    assert caught.value.code == clbin.ExitStatus.FILE
    assert "missing.cl" in caught.value.message
    assert (caught.value.file, caught.value.line) == (None, 0)
    with pytest.raises(clbin.CompileError) as caught:
        clbin.compile(tmp_path / "missing.cl", arguments=["--no-such-option"])
    assert caught.value.code == clbin.ExitStatus.COMMAND_LINE
    assert "no-such-option" in caught.value.message
    with pytest.raises(clbin.CompileError) as caught:
        clbin.compile([], options="--source-only")
    assert caught.value.code == clbin.ExitStatus.COMMAND_LINE


def test_takes_no_path_for_an_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "kernel void k(global int* v) { v[0] = 1; }\n"
    for name in ("-k.cl", "@k.cl"):
        write(tmp_path, name, text)
        data = clbin.compile(name, options="--source-only").data
        with clbin.Bundle(data) as bundle:
            assert list(bundle.programs) == [name[:-3]]


def test_rejects_arguments_of_other_types(tmp_path):
    source = write(tmp_path, "k.cl", "kernel void k() {}\n")
    for arguments in (
        {"options": [3]},
        {"targets": [3]},
        {"devices": [None]},
        {"arguments": [b"-v"]},
        {"specialize": {"k": ("a",)}},
        {"output": 3},
    ):
        with pytest.raises((TypeError, ValueError)):
            clbin.compile(source, **arguments)
    with pytest.raises(TypeError):
        clbin.compile(3)
    with pytest.raises(TypeError):
        clbin.compile([3])
    with pytest.raises(clbin.ArgumentError, match="zero byte"):
        clbin.compile("k\0.cl")


def test_the_console_command_is_oclcc():
    code = "from clbin._command import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True
    )
    assert clbin.__version__ in done.stdout
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-such-option"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == clbin.ExitStatus.COMMAND_LINE
    assert done.stderr.startswith("oclcc: error:")


def test_contains_the_layer():
    assert os.path.exists(clbin.layer_path())
