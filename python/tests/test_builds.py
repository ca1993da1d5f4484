"""clbin.build and Builder, on every platform."""

import contextlib
import pickle
import threading

import pytest
from conftest import SCALE, run, run_scale

import clbin


def is_pocl(device):
    return device.platform.name == "Portable Computing Language"


def test_builds_once_and_takes_the_rest_from_the_user_cache(cl, device, context):
    report = clbin.Report()
    program = clbin.build(context, SCALE, report=report)
    assert isinstance(program, cl.Program)
    assert report.origin == clbin.Origin.SOURCE
    assert run_scale(cl, context, program) == [0, 2, 4, 6]
    program = clbin.build(context, SCALE, report=report)
    assert report.origin == (clbin.Origin.SOURCE if is_pocl(device) else clbin.Origin.USER_CACHE)
    assert run_scale(cl, context, program) == [0, 2, 4, 6]
    assert program.scale.num_args == 2


def test_takes_options_as_pyopencl_does(cl, device, context, tmp_path, monkeypatch):
    (tmp_path / "shift.h").write_text("#define OFFSET 5\n")
    source = (
        '#include "shift.h"\n#include <pyopencl-complex.h>\n'
        "kernel void scale(global float* v, float f)"
        " { v[get_global_id(0)] += f * (OFFSET + A + B); }\n"
    )
    monkeypatch.setenv("PYOPENCL_BUILD_OPTIONS", "-DB=10")
    for options in (
        f"-I {tmp_path} -DA=1",
        ["-I", str(tmp_path), "-DA=1"],
        (f"-I{tmp_path}", "-DA=1"),
    ):
        program = clbin.build(context, source, options)
        assert run_scale(cl, context, program, 1) == [16, 17, 18, 19]
        program = clbin.build(context, source, options=options, devices=[device])
        assert run_scale(cl, context, program, 1) == [16, 17, 18, 19]


def test_a_changed_header_is_built_again(cl, device, context, tmp_path):
    header = tmp_path / "n.h"
    source = (
        '#include "n.h"\nkernel void scale(global float* v, float f) { v[get_global_id(0)] = N; }\n'
    )
    for number in (1, 2):
        header.write_text(f"#define N {number}\n")
        program = clbin.build(context, source, ["-I", str(tmp_path)])
        assert run_scale(cl, context, program) == [number] * 4


def test_an_error_has_the_build_log(device, context):
    with pytest.raises(clbin.BuildError) as caught:
        clbin.build(context, "kernel void k(global int* v) { v[0] = unknown; }\n")
    assert caught.value.code == clbin.Status.BUILD_FAILED
    assert "unknown" in caught.value.log
    assert caught.value.report.origin == clbin.Origin.NONE
    assert str(caught.value) == caught.value.message
    assert caught.value.opencl_code < 0
    assert caught.value.stage.startswith("cl")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.opencl_code, copy.stage) == (caught.value.opencl_code, caught.value.stage)


def test_names_the_change_under_a_label(device, context):
    if is_pocl(device):
        pytest.skip("PoCL keeps what it builds in a cache of its own")
    report = clbin.Report()
    clbin.build(context, SCALE, label="matmul")
    clbin.build(context, "\n" + SCALE, label="matmul", report=report)
    assert "line 1" in str(report)


def test_rejects_arguments_of_other_types(device, context):
    for source in (None, 3, ["a"], bytearray(b"a")):
        with pytest.raises(TypeError, match="'source' must be str or bytes"):
            clbin.build(context, source)
    with pytest.raises(TypeError, match="'options' must be"):
        clbin.build(context, SCALE, options=3)
    with pytest.raises(TypeError, match="'context' must be"):
        clbin.build(None, SCALE)
    with pytest.raises(clbin.ArgumentError, match="'options' contains a zero byte"):
        clbin.build(context, SCALE, options="-DA\0")
    with pytest.raises(clbin.Error):
        clbin.build(context, b"\x03\x02\x23\x07 no SPIR-V")
    with pytest.raises(clbin.ArgumentError):
        clbin.Builder(cache_dir="relative")
    with pytest.raises(TypeError):
        clbin.Builder(cache_dir=3)
    with pytest.raises(TypeError, match="'bundle' must be a clbin.Bundle"):
        clbin.Builder().add_bundle("k.clbin")


def test_a_builder_has_settings_of_its_own(cl, device, context, tmp_path, empty_cache):
    report = clbin.Report()
    with clbin.Builder(cache_dir=tmp_path / "other", cache_on_pocl=True) as builder:
        program = builder.build(context, SCALE, report=report)
        assert report.origin == clbin.Origin.SOURCE
        assert run_scale(cl, context, program) == [0, 2, 4, 6]
    with clbin.Builder(cache_dir=tmp_path / "other", cache_on_pocl=True) as builder:
        program = builder.build(context, SCALE, report=report)
        assert report.origin == clbin.Origin.USER_CACHE
        assert run_scale(cl, context, program) == [0, 2, 4, 6]
    assert not (empty_cache / "programs").exists()
    with clbin.Builder(cache=False) as builder:
        builder.build(context, SCALE)
        builder.build(context, SCALE, report=report)
        assert report.origin == clbin.Origin.SOURCE


def test_a_builder_serves_from_a_bundle_that_was_closed(cl, device, context, scale_bundle):
    bundle = clbin.Bundle(scale_bundle)
    builder = clbin.Builder(cache=False)
    builder.add_bundle(bundle)
    bundle.close()
    with pytest.raises(clbin.ClosedError):
        bundle.verify()
    report = clbin.Report()
    program = builder.build(context, SCALE, report=report)
    assert run_scale(cl, context, program) == [0, 2, 4, 6]
    assert report.origin in (clbin.Origin.ENTRY, clbin.Origin.SOURCE)
    builder.close()
    builder.close()
    assert builder.closed
    for use in (
        lambda: builder.build(context, SCALE),
        lambda: builder.add_bundle(bundle),
        builder.__enter__,
    ):
        with pytest.raises(clbin.ClosedError, match="the builder is closed"):
            use()


def test_threads_share_one_builder(cl, device, context):
    errors, programs = [], {}
    # Oclgrind crashes, or fails builds, if two threads call it (doc/drivers.md).
    turn = threading.Lock() if device.platform.name == "Oclgrind" else contextlib.nullcontext()
    with clbin.Builder() as builder:

        def use(number):
            try:
                source = SCALE.replace("*= f", f"*= f + {number % 2}")
                with turn:
                    programs[number] = builder.build(context, source)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert errors == []
    for number, program in programs.items():
        factor = 2.0 + number % 2
        assert run_scale(cl, context, program) == [each * factor for each in range(4)]


def test_drivers_work_without_the_gil(device, context):
    """Another thread runs while a driver builds a program that takes it long."""
    source = "".join(
        f"kernel void k{number}(global float* v) {{ v[0] = sin(v[{number}]); }}\n"
        for number in range(30)
    )
    started, finished, counted = threading.Event(), threading.Event(), []

    def count():
        started.set()
        while not finished.is_set():
            counted.append(1)
            finished.wait(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    started.wait()
    before = len(counted)
    clbin.build(context, source)
    during = len(counted) - before
    finished.set()
    thread.join()
    assert during > 1


ON_POCL = """
    import sys
    import numpy
    import pyopencl as cl
    import clbin
    context = cl.Context([cl.get_platforms()[int(sys.argv[1])].get_devices()[0]])
    source = "kernel void scale(global float* v) { v[get_global_id(0)] *= 2; }"
    report = clbin.Report()
    program = clbin.build(context, source, report=report)
    values = numpy.ones(4, dtype=numpy.float32)
    queue = cl.CommandQueue(context)
    buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
    cl.Kernel(program, "scale")(queue, (4,), (4,), buffer)
    cl.enqueue_copy(queue, values, buffer)
    print(report.origin.name, values[0])
"""


@pytest.mark.parametrize("device", ["pocl"], indirect=True)
def test_a_process_stores_binaries_of_pocl_at_its_end_unless_the_environment_forbids_it(cl, device):
    number = str(cl.get_platforms().index(device.platform))
    off = {"CLBIN_CACHE_POCL": "0"}
    assert run(ON_POCL, number, **off) == "SOURCE 2.0\n"
    assert run(ON_POCL, number) == "SOURCE 2.0\n"
    assert run(ON_POCL, number) == "USER_CACHE 2.0\n"
    assert run(ON_POCL, number, **off) == "SOURCE 2.0\n"
    # In a forked child, PoCL does not work: the child ends without storing anything.
    code = ON_POCL.replace("import sys", "import os, sys").replace("*= 2;", "*= 3;")
    code += "    sys.stdout.flush()\n"
    code += "    child = os.fork()\n"
    code += "    if child: assert os.waitpid(child, 0)[1] == 0\n"
    assert run(code, number) == "SOURCE 3.0\n"
    assert run(code, number) == "USER_CACHE 3.0\n"


@pytest.mark.parametrize("device", ["pocl"], indirect=True)
def test_a_builder_stores_binaries_of_pocl_when_it_is_closed(cl, context):
    report = clbin.Report()
    with clbin.Builder(cache_on_pocl=True) as builder:
        run_scale(cl, context, builder.build(context, SCALE))
    with clbin.Builder(cache_on_pocl=False) as builder:
        builder.build(context, SCALE, report=report)
        assert report.origin == clbin.Origin.SOURCE
    with clbin.Builder(cache_on_pocl=True) as builder:
        run_scale(cl, context, builder.build(context, SCALE, report=report))
        assert report.origin == clbin.Origin.USER_CACHE
        # What is not stored is not requested either.
        builder.build(context, "\n" + SCALE, fallback=clbin.Fallback.ALWAYS)
    with clbin.Builder(cache_on_pocl=True) as builder:
        builder.build(context, "\n" + SCALE, report=report)
        assert report.origin == clbin.Origin.SOURCE
