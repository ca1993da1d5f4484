"""Loading with PyOpenCL, on every platform."""

import gc
import pickle
import subprocess

import pytest
from conftest import run_scale

import clbin
from clbin._command import command_path


def test_loads_the_entry_of_the_device(cl, device, context, scale_bundle):
    report = clbin.Report()
    with clbin.Bundle(scale_bundle) as bundle:
        program = bundle.load(context, device, "scale", report=report)
    assert isinstance(program, cl.Program)
    assert report.origin == clbin.Origin.ENTRY
    assert (report.program, report.variant) == ("scale", "default")
    attempt = report.attempts[-1]
    assert attempt.decision == clbin.Decision.LOADED
    assert attempt.rule == clbin.Rule.EXACT_IDENTITY
    assert device.name in report.devices[0]
    assert "exact identity" in str(report)
    assert '"origin":"entry"' in report.json().replace(" ", "")
    assert "ENTRY" in repr(report)
    assert report.microseconds > 0
    assert run_scale(cl, context, program) == [0, 2, 4, 6]


def test_selects_variants_and_devices(cl, device, context, scale_bundle):
    bundle = clbin.Bundle(scale_bundle)
    for devices in (device, [device], (device,), None):
        report = clbin.Report()
        program = bundle.load(context, devices, "scale", variant="fast", report=report)
        assert report.variant == "fast"
        assert report.origin == clbin.Origin.ENTRY
        assert run_scale(cl, context, program) == [0, 2, 4, 6]


def test_builds_source_for_options_of_run_time(cl, device, context, scale_bundle):
    report = clbin.Report()
    bundle = clbin.Bundle(scale_bundle)
    program = bundle.load(context, device, "scale", options=["-DA=1", "-DB=2"], report=report)
    assert report.origin == clbin.Origin.SOURCE
    assert run_scale(cl, context, program) == [0, 2, 4, 6]
    bundle.close()  # writes the cache
    bundle = clbin.Bundle(scale_bundle)
    bundle.load(context, device, "scale", options="-DA=1 -DB=2", report=report)
    on_pocl = device.platform.name == "Portable Computing Language"
    assert report.origin == (clbin.Origin.SOURCE if on_pocl else clbin.Origin.USER_CACHE)


def test_a_failed_load_raises_with_its_report(cl, device, context, scale_bundle, tmp_path):
    bundle = clbin.Bundle(scale_bundle)
    report = clbin.Report()
    with pytest.raises(clbin.SelectionError, match="no program 'other'") as caught:
        bundle.load(context, device, "other", report=report)
    assert caught.value.code == clbin.Status.NO_SUCH_PROGRAM
    assert caught.value.report is report
    with pytest.raises(clbin.SelectionError) as caught:
        bundle.load(context, device, "scale", variant="other")
    assert caught.value.code == clbin.Status.NO_SUCH_VARIANT
    assert isinstance(caught.value.report, clbin.Report)
    bad = tmp_path / "bad.cl"
    bad.write_text("kernel void bad(global int* v) { v[0] = unknown; }\n")
    source_only = clbin.Bundle(clbin.compile(bad, options="--source-only").data)
    with pytest.raises(clbin.BuildError) as caught:
        source_only.load(context, device, "bad", report=report)
    assert caught.value.code == clbin.Status.BUILD_FAILED
    assert "unknown" in caught.value.log
    assert report.origin == clbin.Origin.NONE
    assert report.attempts[-1].decision == clbin.Decision.REFUSED
    assert report.attempts[-1].cl_code_name.startswith("CL_")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.log == caught.value.log
    with pytest.raises(clbin.SelectionError) as caught:
        source_only.load(context, device, "bad", fallback=clbin.Fallback.NEVER)
    assert caught.value.code == clbin.Status.NO_MATCHING_ENTRY


def test_a_bundle_has_a_cache_folder_of_its_own(device, context, scale_bundle, tmp_path):
    report = clbin.Report()
    extra = "-DOF_THIS_TEST"  # no entry fits
    for expected in (clbin.Origin.SOURCE, clbin.Origin.USER_CACHE):
        with clbin.Bundle(scale_bundle, cache_dir=tmp_path / "own") as bundle:
            bundle.load(context, device, "scale", options=extra, report=report)
        if "Portable" in device.platform.name:
            return  # it keeps its own builds
        assert report.origin == expected
    with pytest.raises(clbin.ArgumentError):
        clbin.Bundle(scale_bundle, cache_dir="relative")


def test_a_damaged_entry_reaches_no_driver(cl, device, context, scale_bundle):
    content = bytearray(scale_bundle.read_bytes())
    entries = clbin.Bundle(scale_bundle).entries
    assert entries
    content[-64] ^= 0xFF  # in a payload or in the source
    try:
        bundle = clbin.Bundle(content)
        program = bundle.load(context, device, "scale")
    except clbin.Error:
        return
    assert run_scale(cl, context, program) == [0, 2, 4, 6]


def test_known_answers_are_checked_if_asked(device, context, scale_bundle, tmp_path):
    known = tmp_path / "known.clbin"
    launch = "scale=4,1:iota(f32,4),2.0"
    tune = ["--tune", str(scale_bundle), "--known-answers", "--launch", launch, "-o", str(known)]
    subprocess.run([command_path(), *tune], check=True, capture_output=True)
    report = clbin.Report()
    with clbin.Bundle(known, cache_dir=tmp_path) as bundle:
        for answers, ending in ((clbin.Answers.NEVER, ""), (clbin.Answers.ONCE, "known answers")):
            bundle.load(context, device, "scale", answers=answers, report=report)
            assert report.attempts[-1].reason.endswith(ending)
        assert bundle.recommended_size(device, "scale", "scale", (4,)) == (1,)
        assert bundle.recommended_size(device, "scale", "other", (4, 4)) is None
        with pytest.raises(clbin.ArgumentError, match="1 to 3 dimensions"):
            bundle.recommended_size(device, "scale", "scale", ())
        with pytest.raises(ValueError, match="7 is not a valid Answers"):
            bundle.load(context, device, "scale", answers=7)


def test_a_problem_size_chooses_among_measured_variants(device, context, scale_bundle, tmp_path):
    tuned = str(tmp_path / "tuned.clbin")
    given = str(scale_bundle)
    for variant, items in (("default", 16), ("fast", 1024)):
        launch = f"scale={items},16:zero(f32,{items}),2.0"
        tune = ["--tune", given, "--variant", variant, "--launch", launch, "-o", tuned]
        subprocess.run([command_path(), *tune], check=True, capture_output=True)
        given = tuned
    report = clbin.Report()
    with clbin.Bundle(tuned) as bundle:
        for size, variant, nearest in ((100, "default", 16), (4096, "fast", 1024)):
            bundle.load(context, device, "scale", problem_size=(size,), report=report)
            assert report.variant == variant
            expected = f"'{variant}' in launches of {nearest}, the nearest to {size}, measured on"
            assert expected in report.variant_reason
        for sizes in ((0,), (1, 1, 1, 1)):
            with pytest.raises(clbin.ArgumentError, match="'problem_size' must have 1 to 3"):
                bundle.load(context, device, "scale", problem_size=sizes)


def test_warm_stores_what_the_next_load_uses(cl, device, context, offline_bundle, scale_bundle):
    report = clbin.Report()
    for numbers in ((0, 0, 1, 0, 0), (0, 1, 0, 0, 0)):
        with clbin.Bundle(offline_bundle) as bundle:
            assert bundle.warm(context, device, limit=60) == clbin.Warmed(*numbers)
            program = bundle.load(context, device, "scale", report=report)
        assert report.origin == clbin.Origin.USER_CACHE
        assert run_scale(cl, context, program) == [0, 2, 4, 6]
    with clbin.Bundle(scale_bundle) as bundle:
        assert bundle.warm(context, device).from_entries == 2
        assert bundle.warm(context, device, "scale", variant="fast").from_entries == 1
        for program, variant, error in (("no", None, "'no'"), ("scale", "no", "variant 'no'")):
            with pytest.raises(clbin.SelectionError, match=error):
                bundle.warm(context, device, program, variant=variant)
        for limit in (-1, 5e6, float("nan")):
            with pytest.raises(clbin.ArgumentError, match="'limit' is"):
                bundle.warm(context, device, limit=limit)
        with pytest.raises(TypeError, match="'context' must be"):
            bundle.warm(device, device)


def test_warm_uses_packs(device, context, scale_bundle, tmp_path):
    folder = tmp_path / "set"
    split = ["--split", str(scale_bundle), "-o", str(folder)]
    subprocess.run([command_path(), *split], check=True, capture_output=True)
    with clbin.Bundle(folder) as bundle:
        assert bundle.warm(context, device).from_entries == 2


def test_warm_requires_the_user_cache(device, context, offline_bundle, monkeypatch):
    monkeypatch.setenv("CLBIN_CACHE", "0")
    is_off = pytest.raises(clbin.ArgumentError, match="which is off: CLBIN_CACHE is 0")
    with clbin.Bundle(offline_bundle) as bundle, is_off:
        bundle.warm(context, device)


def test_identity_selects_the_bytes_of_the_entry(device, context, scale_bundle):
    identity = clbin.identity(device)
    assert identity.device_name == device.name
    assert identity.driver_version == device.driver_version
    assert identity.address_bits in (32, 64)
    with clbin.Bundle(scale_bundle) as bundle:
        selection = bundle.select(identity, "scale")
        assert selection.rule == clbin.Rule.EXACT_IDENTITY
        assert selection.kernels == ("scale",)
        assert len(selection.data) in [entry.raw_bytes for entry in bundle.entries]


def test_rejects_objects_that_are_not_of_pyopencl(cl, device, context, scale_bundle):
    bundle = clbin.Bundle(scale_bundle)
    for wrong in (None, 1, "context", device, object()):
        with pytest.raises(TypeError, match="'context' must be"):
            bundle.load(wrong, device, "scale")
    for wrong in (1, "device", context, [None], [context], object()):
        with pytest.raises(TypeError, match="'device' must"):
            bundle.load(context, wrong, "scale")
    with pytest.raises(clbin.ArgumentError):
        bundle.load(context, [], "scale")
    with pytest.raises(clbin.ArgumentError):
        bundle.load(context, [device, device], "scale")
    with pytest.raises(TypeError, match="'report' must be"):
        bundle.load(context, device, "scale", report={})
    with pytest.raises(TypeError, match="'program' must be str"):
        bundle.load(context, device, b"scale")
    with pytest.raises(TypeError, match="'options' must be"):
        bundle.load(context, device, "scale", options=[1])
    with pytest.raises(ValueError, match="5"):
        bundle.load(context, device, "scale", fallback=5)
    for wrong in ({-1: b"1"}, {2**32: b"1"}, {"a": b"1"}, {1: b""}, {1: bytes(17)}):
        with pytest.raises(clbin.ArgumentError):
            bundle.load(context, device, "scale", constants=wrong)
    for wrong in ({1: 1}, {1: 1.5}, {1: "a"}, {1: None}):
        with pytest.raises(TypeError):
            bundle.load(context, device, "scale", constants=wrong)
    with pytest.raises(TypeError, match="'device' must be"):
        clbin.identity(context)


def test_a_device_of_another_context_raises(cl, device, scale_bundle):
    others = [each for platform in cl.get_platforms() for each in platform.get_devices()]
    other = next((each for each in others if each != device), None)
    if other is None:
        pytest.skip("there is one device only")
    with clbin.Bundle(scale_bundle) as bundle, pytest.raises(clbin.ArgumentError):
        bundle.load(cl.Context([other]), device, "scale")


def test_specialization_constants_are_a_mapping(device, context, scale_bundle):
    for wrong in (type, [1], 1):
        with clbin.Bundle(scale_bundle) as bundle, pytest.raises(TypeError, match="constants"):
            bundle.load(context, device, "scale", constants=wrong)


def test_specialization_constants_need_il(cl, device, context, scale_bundle):
    with clbin.Bundle(scale_bundle) as bundle, pytest.raises(clbin.Error) as caught:
        bundle.load(context, device, "scale", constants={1: True, 2: b"\1\0\0\0"})
    assert caught.value.code in (clbin.Status.NO_MATCHING_ENTRY, clbin.Status.NO_SOURCE)


def test_a_program_outlives_its_bundle_and_its_context(cl, device, scale_bundle):
    bundle = clbin.Bundle(scale_bundle)
    context = cl.Context([device])
    program = bundle.load(context, device, "scale")
    bundle.close()
    del bundle, context
    gc.collect()
    context = program.get_info(cl.program_info.CONTEXT)
    assert run_scale(cl, context, program) == [0, 2, 4, 6]


def test_pyopencl_owns_the_only_reference(cl, device, context, scale_bundle):
    with clbin.Bundle(scale_bundle) as bundle:
        program = bundle.load(context, device, "scale")
    assert program.get_info(cl.program_info.REFERENCE_COUNT) == 1
    with clbin.Builder(cache_on_pocl=False) as builder:  # which would hold it for a while
        program = builder.build(context, "kernel void k() {}")
    assert program.get_info(cl.program_info.REFERENCE_COUNT) == 1


def test_an_ended_report_keeps_nothing_of_an_earlier_load(device, context, scale_bundle):
    report = clbin.Report()
    bundle = clbin.Bundle(scale_bundle)
    bundle.load(context, device, "scale", report=report)
    with pytest.raises(clbin.SelectionError):
        bundle.load(context, device, "other", report=report)
    assert (report.origin, report.program) == (clbin.Origin.NONE, "other")
    assert report.attempts == ()
