"""Opening, listing and selecting: neither PyOpenCL nor a driver is needed."""

import io
import json
import os
import pathlib
import pickle
import subprocess
import threading

import pytest

import clbin
from clbin._command import command_path


def test_opens_a_path_bytes_and_a_memory_view(offline_bundle, tmp_path):
    path = tmp_path / "k.clbin"
    path.write_bytes(offline_bundle)
    sources = [path, str(path), offline_bundle, bytearray(offline_bundle)]
    for source in [*sources, memoryview(offline_bundle), memoryview(b"x" + offline_bundle)[1:]]:
        with clbin.Bundle(source) as bundle:
            bundle.verify()
            assert list(bundle.programs) == ["scale"]


def test_knows_whether_its_file_was_replaced(offline_bundle, tmp_path):
    path, new = tmp_path / "k.clbin", tmp_path / "new"
    path.write_bytes(offline_bundle)
    new.write_bytes(offline_bundle)
    with clbin.Bundle(path) as bundle, clbin.Bundle(offline_bundle) as in_memory:
        assert bundle.is_current and in_memory.is_current
        new.rename(path)
        assert not bundle.is_current and in_memory.is_current
    with clbin.Bundle(path) as bundle:
        assert bundle.is_current
        path.unlink()
        assert not bundle.is_current
        bundle.verify()
    with pytest.raises(clbin.ClosedError):
        bundle.is_current


def test_copies_bytes_that_the_caller_changes_later(offline_bundle):
    content = bytearray(offline_bundle)
    with clbin.Bundle(content) as bundle:
        content[:] = bytes(len(content))
        bundle.verify()


def test_copies_a_memory_view_with_steps(offline_bundle):
    doubled = bytearray(2 * len(offline_bundle))
    doubled[::2] = offline_bundle
    with clbin.Bundle(memoryview(doubled)[::2]) as bundle:
        bundle.verify()


def test_lists_programs_variants_and_sources(offline_bundle):
    with clbin.Bundle(offline_bundle) as bundle:
        variant = bundle.programs["scale"].variants["default"]
        assert (variant.name, variant.options, variant.has_source) == ("default", "", True)
        assert bundle.entries == bundle.programs["scale"].entries == ()
        assert bundle.programs["scale"].name == "scale"
        with pytest.raises(TypeError):
            bundle.programs["scale"].variants["other"] = variant


def test_lists_the_entries_and_kernels_of_a_golden_bundle():
    folder = os.environ.get("CLBIN_SOURCE", "")
    if not folder:
        pytest.skip("CLBIN_SOURCE does not name the sources")
    for path in sorted((pathlib.Path(folder) / "tests/golden/v1").glob("*.clbin")):
        with clbin.Bundle(path) as bundle:
            document = json.loads(bundle.json())
            entries = [
                entry for group in document["bundles"][0]["groups"] for entry in group["entries"]
            ]
            assert len(bundle.entries) == len(entries)
            for ours, theirs in zip(bundle.entries, entries):
                assert len(ours.digest) == 64
                assert ours.format == theirs["format"]["description"]
                for kernel, listed in zip(ours.kernels, theirs["kernels"]):
                    assert kernel.name == listed["name"]
                    assert kernel.required_work_group_size == (
                        tuple(listed["required_work_group_size"])
                        if listed["required_work_group_size"]
                        else None
                    )


def test_selects_without_opencl(offline_bundle):
    with clbin.Bundle(offline_bundle) as bundle:
        identity = clbin.Identity(platform_name="none", il_versions=("SPIR-V_1.0",), vendor_id=1)
        with pytest.raises(clbin.SelectionError) as caught:
            bundle.select(identity, "scale")
        assert caught.value.code == clbin.Status.NO_MATCHING_ENTRY
        with pytest.raises(LookupError, match="no program 'other'"):
            bundle.select(identity, "other")
        with pytest.raises(clbin.SelectionError) as caught:
            bundle.select(identity, "scale", "other")
        assert caught.value.code == clbin.Status.NO_SUCH_VARIANT


def test_selects_an_entry_of_an_offline_target(tmp_path):
    folder = os.environ.get("CLBIN_SOURCE", "")
    if not folder:
        pytest.skip("CLBIN_SOURCE does not name the sources")
    with clbin.Bundle(pathlib.Path(folder) / "tests/golden/v1/every_kind.clbin") as bundle:
        ptx = [entry for entry in bundle.entries if entry.format.startswith("PTX")]
        assert ptx, [entry.format for entry in bundle.entries]
        identity = clbin.Identity(
            platform_name="NVIDIA CUDA",
            platform_version="OpenCL 3.0 CUDA 12.4.1",
            vendor="NVIDIA Corporation",
            device_name="any",
            driver_version="550.1",
            architecture="sm_60",
            vendor_id=0x10DE,
            address_bits=64,
        )
        selection = bundle.select(identity, ptx[0].program, ptx[0].variant)
        assert selection.rule == clbin.Rule.COMPATIBLE
        assert selection.data
        assert "data" not in repr(selection)


def test_selects_from_the_packs_of_a_directory(tmp_path):
    folder = os.environ.get("CLBIN_SOURCE", "")
    if not folder:
        pytest.skip("CLBIN_SOURCE does not name the sources")
    whole = pathlib.Path(folder) / "tests/golden/v1/every_kind.clbin"
    packs = tmp_path / "packs"
    subprocess.run([command_path(), "--split=vendor", whole, "-o", packs], check=True)
    identity = clbin.Identity(
        platform_name="NVIDIA CUDA", driver_version="550.1", architecture="sm_60", address_bits=64
    )
    with clbin.Bundle(whole) as bundle:
        ptx = next(entry for entry in bundle.entries if entry.format.startswith("PTX"))
        expected = bundle.select(identity, ptx.program, ptx.variant)
    with clbin.Bundle(packs) as bundle:
        assert bundle.is_current
        assert bundle.select(identity, ptx.program, ptx.variant) == expected
    (packs / "nvidia.clbin").unlink()
    missing = pytest.raises(clbin.SelectionError, match="the pack 'nvidia' is not installed")
    with clbin.Bundle(packs) as bundle, missing:
        bundle.select(identity, ptx.program, ptx.variant)


def test_raises_by_topic(offline_bundle, tmp_path):
    missing = tmp_path / "missing.clbin"
    with pytest.raises(FileNotFoundError, match="missing.clbin") as caught:
        clbin.Bundle(missing)
    assert isinstance(caught.value, clbin.BundleNotFoundError)
    assert caught.value.code == clbin.Status.FILE_NOT_FOUND
    with pytest.raises(OSError, match=str(tmp_path)) as caught:
        clbin.Bundle(tmp_path)
    assert isinstance(caught.value, clbin.FileError)
    with pytest.raises(clbin.BundleError) as caught:
        clbin.Bundle(b"not a bundle, but some other text that is long enough for its header")
    assert caught.value.code == clbin.Status.NOT_A_BUNDLE
    for length in (0, 1, 7, len(offline_bundle) - 1):
        with pytest.raises(clbin.BundleError):
            clbin.Bundle(offline_bundle[:length])
    damaged = bytearray(offline_bundle)
    damaged[len(damaged) // 2] ^= 1
    with pytest.raises(clbin.BundleError), clbin.Bundle(damaged) as bundle:
        bundle.verify()
    with pytest.raises(clbin.BundleError) as caught:
        clbin.Bundle(offline_bundle, max_directory_bytes=1)
    assert caught.value.code == clbin.Status.LIMIT_EXCEEDED


def test_rejects_arguments_of_other_types(offline_bundle):
    for source in (None, 3, 1.5, ["k.clbin"], io.BytesIO(offline_bundle), object()):
        with pytest.raises(TypeError, match="'source' must be a path or bytes"):
            clbin.Bundle(source)
    for path in ("k\0.clbin", "\ud800"):
        with pytest.raises(clbin.ArgumentError):
            clbin.Bundle(path)
    for limit in (-1, 2**64):
        with pytest.raises(ValueError, match="max_raw_bytes"):
            clbin.Bundle(offline_bundle, max_raw_bytes=limit)
    with pytest.raises(TypeError):
        clbin.Bundle(offline_bundle, max_raw_bytes="1")
    with clbin.Bundle(offline_bundle) as bundle:
        with pytest.raises(TypeError, match="must be a clbin.Identity"):
            bundle.select("PoCL", "scale")
        with pytest.raises(TypeError, match="'program' must be str"):
            bundle.select(clbin.Identity(), 3)
        with pytest.raises(clbin.ArgumentError, match="'program' contains a zero byte"):
            bundle.select(clbin.Identity(), "scale\0")
        with pytest.raises(ValueError, match="vendor_id"):
            bundle.select(clbin.Identity(vendor_id=2**32), "scale")


def test_a_closed_bundle_raises(offline_bundle):
    bundle = clbin.Bundle(offline_bundle)
    assert not bundle.closed
    bundle.close()
    bundle.close()
    assert bundle.closed
    assert "closed" in repr(bundle)
    for use in (bundle.verify, bundle.json, bundle.__enter__, lambda: bundle.programs):
        with pytest.raises(clbin.ClosedError, match="the bundle is closed"):
            use()
    with pytest.raises(ValueError, match="closed"):
        bundle.select(clbin.Identity(), "scale")


def test_errors_can_be_pickled(tmp_path):
    with pytest.raises(clbin.Error) as caught:
        clbin.Bundle(tmp_path / "missing")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), copy.code, str(copy)) == (
        clbin.BundleNotFoundError,
        clbin.Status.FILE_NOT_FOUND,
        str(caught.value),
    )


def test_threads_use_and_close_one_bundle(offline_bundle):
    """Every call returns or raises ClosedError; run with a sanitizer or not, none crashes."""
    for _ in range(20):
        bundle = clbin.Bundle(offline_bundle)
        errors = []

        def use(bundle=bundle, errors=errors):
            try:
                while True:
                    bundle.verify()
                    bundle.json()
            except clbin.ClosedError:
                pass
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=use) for _ in range(4)]
        for thread in threads:
            thread.start()
        bundle.verify()
        bundle.close()
        for thread in threads:
            thread.join()
        assert errors == []


def test_an_empty_report_has_no_contents():
    report = clbin.Report()
    assert report.origin == clbin.Origin.NONE
    assert (report.program, report.variant, str(report)) == ("", "", "")
    assert (report.devices, report.warnings, report.attempts) == ((), (), ())
    assert report.microseconds == 0
    assert json.loads(report.json()) == {}


def test_every_name_of_the_package_exists():
    for name in clbin.__all__:
        assert getattr(clbin, name) is not None
        assert name in dir(clbin)
    with pytest.raises(AttributeError, match="no attribute 'unknown'"):
        clbin.unknown
