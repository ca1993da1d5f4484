"""Searches with Kernel Tuner: which variants oclcc measures, which are chosen, and every error.

The module runs in a process of its own, because Kernel Tuner is large. No test depends on a time.
"""

import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

from clbin import CompileError, ExitStatus, _command, kernel_tuner
from clbin.kernel_tuner import Trial

VARIANTS = "ITEM=1,2,4 DEPTH=1,2,3 PART=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 if ITEM*DEPTH<=8"
COMBINATIONS = 128  # (3 * 3 - 1) * 16
WRONG = ["PART1", "PART5", "PART9", "PART13"]
BROKEN = ["PART3", "PART7", "PART11", "PART15"]
SOURCE = """
#ifndef ITEM
#define ITEM 1
#endif
#if defined(PART) && PART % 4 == 3
#error "this one is broken"
#endif
kernel void scale(global float* a, global const float* b, float f) {
  for (int i = 0; i < ITEM; ++i) {
    const size_t at = get_global_id(0) * ITEM + i;
    a[at] = f * b[at];
#if defined(PART) && PART % 4 == 1
    a[at] += 1;
#endif
  }
}
"""
LAUNCH = "scale[64]=64/(ITEM?1),16:zero(f32,64),random(f32,64),2.5"

needs_kernel_tuner = pytest.mark.skipif(
    importlib.util.find_spec("kernel_tuner") is None, reason="only pypi.txt has Kernel Tuner"
)


def environment(platform):
    """Sees one platform, and the loader that run.sh hides from PyOpenCL."""
    env = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    vendors = pathlib.Path(os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors"))
    file = vendors / f"{platform}.icd" if platform else vendors
    if not file.exists():
        pytest.skip(f"{file} is missing")
    return {**env, "OCL_ICD_VENDORS": str(file)}


def oclcc(*words):
    command = [_command.command_path(), *map(str, words)]
    return subprocess.run(command, capture_output=True, check=True).stdout


def command_line(bundle, *words, variants=VARIANTS):
    command = [sys.executable, "-m", "clbin.kernel_tuner", str(bundle)]
    return [*command, "--variants", variants, "--launch", LAUNCH, *map(str, words)]


def search(bundle, *words, platform="oclgrind", **others):
    command = command_line(bundle, *words, **others)
    env = environment(platform)
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def measured(bundle):
    """The measurements of each variant that a search has added."""
    groups = json.loads(oclcc("--info", "--json", bundle))["bundles"][0]["groups"]
    return {
        group["variant"]: group.get("measurements", [])
        for group in groups
        if "+" in group["variant"]
    }


def trials(errors):
    """What the search printed of each variant: {"default+ITEM1_…": "1.2 us"}."""
    lines = (line.split("  ", 2) for line in errors.splitlines() if "  default+" in line)
    return {variant: result for _, variant, result in lines}


def finalists(output):
    return [line.split()[0] for line in output.splitlines()[1:]]


@pytest.fixture
def bundle(tmp_path):
    (tmp_path / "scale.cl").write_text(SOURCE)
    oclcc(tmp_path / "scale.cl", "--source-only", "-o", tmp_path / "scale.clbin")
    return tmp_path / "scale.clbin"


@needs_kernel_tuner
@pytest.mark.parametrize(
    ("strategy", "platform", "count"),
    [
        ("greedy_ils", "pocl", 9),
        ("bayes_opt", "oclgrind", 14),
        ("genetic_algorithm", "oclgrind", 24),
    ],
)
def test_measures_a_part_of_the_space_and_chooses_no_refused_variant(
    bundle, strategy, platform, count
):
    done = search(bundle, "--strategy", strategy, "--max-evaluations", count, platform=platform)
    assert done.returncode == 0, done.stderr
    shown = trials(done.stderr)
    refused = {variant: text for variant, text in shown.items() if text.startswith("refused: ")}
    assert list(measured(bundle)) == sorted(shown)
    assert len(shown) == count
    assert done.stdout.startswith(
        f"{strategy}: {count} of {COMBINATIONS} combinations measured, 0 of them before, "
        f"{len(refused)} refused; "
    )
    assert refused
    for variant, text in shown.items():
        part = variant.split("_")[-1]
        assert (part in WRONG + BROKEN) == (variant in refused)
        assert ("differs from that of variant 'default'" in text) == (part in WRONG)
        assert ("building 'scale.cl'" in text) == (part in BROKEN)
    chosen = finalists(done.stdout)
    assert "default" in chosen
    assert not set(chosen) & set(refused)
    assert len(chosen) >= min(6, 1 + len(shown) - len(refused))


@needs_kernel_tuner
def test_goes_on_after_it_was_killed(bundle):
    words = ["--strategy", "random_sample", "--max-evaluations", "20", "--seed", "7"]
    env = environment("oclgrind")
    with subprocess.Popen(
        command_line(bundle, *words), stderr=subprocess.PIPE, text=True, env=env, process_group=0
    ) as process:
        first = [process.stderr.readline() for _ in range(8)]
        os.killpg(process.pid, signal.SIGKILL)
    kept = measured(bundle)
    assert len(kept) >= 8
    assert set(trials("".join(first))) <= set(kept)

    done = search(bundle, *words)
    assert done.returncode == 0, done.stderr
    shown = trials(done.stderr)
    assert list(shown)[:8] == list(trials("".join(first)))
    assert len(shown) == 20
    assert set(measured(bundle)) == set(shown)
    before = {variant for variant, text in shown.items() if text.endswith(", measured before")}
    assert before == {variant for variant in kept if "refused: " not in shown[variant]}
    chosen = finalists(done.stdout)
    for variant, results in kept.items():
        assert variant in chosen or measured(bundle)[variant] == results


@needs_kernel_tuner
def test_measures_all_of_a_small_space_that_a_file_declares(bundle, tmp_path):
    before = bundle.read_bytes()
    output = tmp_path / "tuned.clbin"
    declared = tmp_path / "scale.space"
    declared.write_text("--tune-seconds 600 --tolerance 1e-3\n--variants 'ITEM=1,2,4\n PART=1,2'\n")
    done = search(bundle, "-o", output, f"@{declared}")
    assert done.returncode == 0, done.stderr
    assert "6 of 6 combinations measured, 0 of them before, 3 refused; 4 variants" in done.stdout
    assert bundle.read_bytes() == before
    assert len(measured(output)) == 6


@needs_kernel_tuner
def test_ends_if_every_combination_is_refused(bundle):
    done = search(bundle, variants="PART=1 ITEM=1,2")
    assert done.returncode == ExitStatus.COMPILE_FAILED
    assert "2 of 2 combinations measured, 0 of them before, 2 refused" in done.stdout


@needs_kernel_tuner
@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--strategy", "luck"], 2, "'--strategy luck': there are adaptive_tabu_greywolf, "),
        (["--device", "9:9"], 5, "no device matches '9:9'; there are 0:0 "),
        (["--launch", "scale=1"], 2, "--launch 'scale=1', variant 'default': argument 0 'a' of "),
        (["--tolerance", "x"], 2, "'--tolerance' requires a number"),
        (
            ["--strategy", "skopt"],
            5,
            "strategy 'skopt' requires packages that are missing: No module",
        ),
    ],
)
def test_reports_what_is_wrong(bundle, words, status, message):
    if words[-1] == "skopt" and importlib.util.find_spec("skopt"):
        pytest.skip("skopt is installed")
    done = search(bundle, *words)
    line = done.stderr.splitlines()[-1]
    assert line.startswith("clbin.kernel_tuner: error: ")
    assert message in line
    assert (done.returncode, done.stdout) == (status, "")
    assert measured(bundle) == {}


@needs_kernel_tuner
def test_requires_one_device(bundle):
    done = search(bundle, platform="")
    assert done.returncode == 2
    assert "a search measures on one device: select one of 0:0, 1:0" in done.stderr


@needs_kernel_tuner
def test_requires_a_variant_that_runs(bundle, tmp_path):
    broken = tmp_path / "broken.clbin"
    oclcc(bundle.with_suffix(".cl"), "--source-only", "--variant=a=-DPART=3", "-o", broken)
    done = search(broken)
    assert done.returncode == 1
    assert "variant 'a', with which others are compared, does not run: scale: " in done.stderr
    several = tmp_path / "several.clbin"
    oclcc(bundle.with_suffix(".cl"), "--source-only", "--variants=ITEM=1,2", "-o", several)
    done = search(several)
    assert done.returncode == 2
    assert done.stderr == (
        f"clbin.kernel_tuner: error: {several}: a search needs one variant, or one that is named "
        "'default'; there are 'ITEM1', 'ITEM2'\n"
    )


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--variants", "A=1,2 if A>2"], 2, "A>2': no combination meets its condition"),
        (["--variants", "A=1"], 2, "--variants 'A=1': a search needs at least 2 combinations"),
        (["--variants", "A=1,1"], 2, "a value of 'A' is given twice"),
        (["--variants", "A=1,2", "--max-evaluations", "0"], 2, "'--max-evaluations 0': at least 1"),
        (["--variants", "A=1,2", "--max-evaluations", "x"], 2, "invalid int value: 'x'"),
        ([], 2, "the following arguments are required: --variants"),
        (["--variants", "A=1,2", "--nonsense"], 2, "unrecognized arguments: --nonsense"),
        (["--variants", "A=1,2"], 5, "run 'pip install kernel_tuner'"),
        (["@none.space"], 3, "cannot read 'none.space': No such file or directory"),
    ],
)
def test_reports_what_is_wrong_without_kernel_tuner(capsys, monkeypatch, words, status, message):
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setitem(sys.modules, "kernel_tuner", None)  # the import fails
    monkeypatch.setitem(sys.modules, "kernel_tuner.interface", None)
    assert kernel_tuner.main(["none.clbin", *words]) == status
    output, errors = capsys.readouterr()
    assert errors.startswith("clbin.kernel_tuner: error: ")
    assert message in errors
    assert (output, errors.count("\n")) == ("", 1)


def result(variant, median, outcome="measured", reason=""):
    return {
        "variant": variant,
        "median_ns": median,
        "outcome": outcome,
        "reason": reason,
        "measured_before": True,
    }


def launch_of(*results):
    return {"kernel": "k", "program": "p", "results": results}


def test_adds_the_best_times_of_all_launches():
    first = launch_of(result("v", 30), result("v", 20), result("w", 1))
    second = launch_of(result("v", 5), result("w", None, "wrong_result", "it differs"))
    assert kernel_tuner._trial([first, second], "v") == Trial("v", 25, "", True)
    assert kernel_tuner._trial([first, second], "w") == Trial("w", None, "k: it differs", True)
    assert kernel_tuner._trial([first], "x") == Trial("x", None, "program 'p' lacks it")
    assert kernel_tuner._trial([launch_of(result("v", None, "out_of_time"))], "v") is None


def test_measures_others_again_if_they_may_be_faster_than_the_finalists():
    class Drifting(kernel_tuner._Tuning):
        def __init__(self):
            self.base, self.seconds, self.runs = "default", 0, []

        def _run(self, words, part):
            names = [word for word in words if word not in ("--no-cache", "--variant")]
            self.runs.append(names)
            return [launch_of(*(result(name, 60 + len(name)) for name in names))]

    tuning = Drifting()
    found = [Trial(f"default+{n}", n) for n in (10, 20, 30, 40, 50, 60, 99)]
    chosen = tuning.measure_finalists([*found, Trial("default+0", None, "it differs")])
    best = [f"default+{n}" for n in (10, 20, 30, 40, 50)]
    assert tuning.runs == [["default", *best], ["default", *best, "default+60"]]
    assert [each.variant for each in chosen] == ["default", *best, "default+60"]


def test_raises_the_status_of_oclcc(tmp_path):
    with pytest.raises(CompileError, match="cannot open") as raised:
        kernel_tuner._groups(str(tmp_path / "missing.clbin"))
    assert raised.value.code == ExitStatus.FILE
