"""Searches a large space of variants for the fastest one, with the strategies of Kernel Tuner.

    python3 -m clbin.kernel_tuner sgemm.clbin --variants 'TILE=16,32,64 ITEM=2,4,8' --launch ...

`oclcc --tune --variants` measures every combination. Here, a strategy chooses which ones `oclcc
--tune` measures. Requires the package kernel_tuner of PyPI; oclcc-tuning(7) describes the search.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shlex
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable, NoReturn

from ._command import command_path
from ._compile import Compilation, Path, Words, _file, _run, _words
from ._enums import ExitStatus
from ._errors import CompileError, Error

__all__ = ["Found", "Trial", "main", "search"]

STRATEGY = "greedy_ils"
MAX_EVALUATIONS = 60
_FINALISTS = 5  # measured again at the end, in turn
_BATCH = 8  # variants that one run of oclcc measures: a search that is killed loses at most these
_SEARCH_PART = 0.8  # of the seconds: the rest is for the last run
_BASE = "default"


@dataclass(frozen=True)
class Trial:
    """What oclcc says of a variant.

    variant: its name in the bundle.
    nanoseconds: the median time of a launch, with the best work-group; of several launches, their
    sum. None if the variant was refused.
    reason: why it was refused, or "".
    measured_before: whether the bundle contained the result.
    """

    variant: str
    nanoseconds: int | None
    reason: str = ""
    measured_before: bool = False


@dataclass(frozen=True)
class Found:
    """What search() returns.

    combinations: the size of the space.
    trials: what the strategy has chosen, in this order, each combination once.
    finalists: what was measured again at the end, in turn, the fastest first, with the variant of
    the bundle to which the macros were added.
    warnings: of oclcc and of Kernel Tuner.
    """

    combinations: int
    trials: tuple[Trial, ...]
    finalists: tuple[Trial, ...]
    warnings: tuple[str, ...] = ()


Progress = Callable[[Trial, int], None]


def search(
    bundle: Path,
    variants: str,
    *,
    launches: Words = (),
    devices: Words = (),
    strategy: str = STRATEGY,
    max_evaluations: int = MAX_EVALUATIONS,
    seed: int = 0,
    seconds: int = 0,
    output: Path | None = None,
    arguments: Sequence[str] = (),
    progress: Progress | None = None,
) -> Found:
    """Measures those combinations of macros that a strategy of Kernel Tuner chooses.

        clbin.kernel_tuner.search("scale.clbin", "TILE=16,32 ITEM=1,2,4", launches="scale=64: ...")

    bundle: with source, and one variant, or one that is named "default", which runs on the device.
    variants, launches, devices: as for oclcc --variants, --launch and --device, of which the last
    ones must select one device.
    strategy: a strategy of Kernel Tuner. seed: of its random numbers. The same search of the same
    bundle goes on where it was killed.
    max_evaluations: combinations that are chosen, also those that the bundle contains.
    seconds: ends the search after so many seconds; 0: no limit.
    output: the bundle with the results; None: the input is replaced.
    arguments: other arguments of oclcc --tune, such as "--tolerance=1e-3".
    progress: called with each trial, and the number of trials until then.

    Runs processes, and does not use PyOpenCL. Raises CompileError. Not thread-safe: it sets the
    seed of the modules random and numpy, and redirects sys.stdout to sys.stderr.
    """
    if max_evaluations < 1:
        raise _refused(f"'--max-evaluations {max_evaluations}': at least 1 is required")
    space = _Space(variants)
    engine = _Engine(strategy, seed, min(max_evaluations, len(space.names)))
    tuning = _Tuning(bundle, output, launches, devices, arguments, seconds)
    tuning.check_base()
    trials = _Trials(tuning, space, engine.limit, progress or (lambda *_: None))
    engine.run(space, trials)
    finalists = tuning.measure_finalists(trials.all.values())
    messages = (*tuning.messages, *engine.messages)
    return Found(len(space.names), tuple(trials.all.values()), finalists, messages)


# ---- oclcc ---------------------------------------------------------------------------------------


def _refused(message: str) -> CompileError:
    return CompileError(ExitStatus.COMMAND_LINE, message)


def _oclcc(*arguments: str, statuses: Sequence[int] = (ExitStatus.DONE,)) -> Compilation:
    return _run([command_path(), "--color=never", *arguments], None, statuses)


def _groups(bundle: str) -> list[dict[str, Any]]:
    """Returns the programs and variants that oclcc --info lists."""
    document = json.loads(_oclcc("--info", "--json", _file(bundle)).data)
    groups: list[dict[str, Any]] = document["bundles"][0]["groups"]
    return groups


class _Space:
    """The combinations that oclcc makes of --variants.

    names: the variants, as oclcc names them, by the places of their values.
    values: the values of each macro, in ascending order if they are numbers.
    """

    def __init__(self, variants: str) -> None:
        found = self._combinations(variants)
        if len(found) < 2:
            raise _refused(f"--variants '{variants}': a search needs at least 2 combinations")
        macros = dict.fromkeys(macro for values in found.values() for macro in values)
        self.values: dict[str, list[str]] = {macro: [] for macro in macros}
        for macro, values in self.values.items():
            values.extend(sorted({each[macro] for each in found.values()}, key=_order))
        self.names = {
            tuple(self.values[macro].index(value) for macro, value in combination.items()): name
            for name, combination in found.items()
        }
        self.options = {
            name: " ".join(f"-D{macro}={value}" for macro, value in combination.items())
            for name, combination in found.items()
        }

    @staticmethod
    def _combinations(variants: str) -> dict[str, dict[str, str]]:
        """Compiles nothing: a bundle of any source lists the variants with their options."""
        with tempfile.TemporaryDirectory() as folder:
            source, bundle = (os.path.join(folder, name) for name in ("space.cl", "space.clbin"))
            with open(source, "w") as file:
                file.write("kernel void none() {}\n")
            _oclcc(source, "--source-only", "--variants", variants, "-o", bundle)
            groups = _groups(bundle)
        words = {group["variant"]: group["options"].split() for group in groups}
        return {
            name: dict(word.removeprefix("-D").split("=", 1) for word in options)
            for name, options in words.items()
        }


def _order(value: str) -> tuple[bool, int, str]:
    return (not value.isdecimal(), int(value) if value.isdecimal() else 0, value)


class _Tuning:
    """Runs oclcc --tune for one device."""

    def __init__(
        self,
        bundle: Path,
        output: Path | None,
        launches: Words,
        devices: Words,
        arguments: Sequence[str],
        seconds: int,
    ) -> None:
        self.bundle = os.fspath(bundle)
        self.output = None if output is None else os.fspath(output)
        self.messages: list[str] = []
        self.options = list(arguments)
        self.options += [w for each in _words(launches, "launches") for w in ("--launch", each)]
        self.start = time.monotonic()
        self.seconds = seconds
        self.base = self._find_base()
        self.options += ["--device", self._find_device(_words(devices, "devices"))]

    def _find_base(self) -> str:
        names: set[str] = {group["variant"] for group in _groups(self.bundle)}
        bases = sorted(name for name in names if "+" not in name)
        if _BASE in bases:
            return _BASE
        if len(bases) != 1:
            listed = "', '".join(bases)
            raise _refused(
                f"{self.bundle}: a search needs one variant, or one that is named "
                f"'{_BASE}'; there are '{listed}'"
            )
        return bases[0]

    @staticmethod
    def _find_device(patterns: Sequence[str]) -> str:
        words = [word for each in patterns for word in ("--device", each)]
        listed = json.loads(_oclcc("--list-devices", "--json", *words).data)
        found = [device["id"] for device in listed["devices"]]
        if len(found) != 1:
            raise _refused(
                f"a search measures on one device: select one of {', '.join(found)} with '--device'"
            )
        return str(found[0])

    def is_over(self, part: float = _SEARCH_PART) -> bool:
        return bool(self.seconds) and time.monotonic() - self.start >= self.seconds * part

    def _left(self, part: float) -> list[str]:
        if not self.seconds:
            return []
        left = int(self.start + self.seconds * part - time.monotonic())
        return ["--tune-seconds", str(max(1, left))]

    def _run(self, words: Sequence[str], part: float) -> list[dict[str, Any]]:
        """Returns the launches with their results."""
        place = [] if self.output is None else ["-o", _file(self.output)]
        command = ["--tune", "--json", "--diagnostics-format=json", *self.options]
        command += [*self._left(part), *words, *place, _file(self.bundle)]
        # If every variant is refused, the status is 1, and the results say why.
        done = _oclcc(*command, statuses=(ExitStatus.DONE, ExitStatus.COMPILE_FAILED))
        messages = map(str, done.diagnostics)
        self.messages += [each for each in messages if each not in self.messages]
        self.bundle, self.output = self.output or self.bundle, None
        launches: list[dict[str, Any]] = json.loads(done.data)["devices"][0]["launches"]
        return launches

    def check_base(self) -> None:
        """Measures the base, whose results are those with which the others are compared."""
        base = _trial(self._run(["--variant", self.base], _SEARCH_PART), self.base)
        if base is None or base.nanoseconds is None:
            reason = "out of time" if base is None else base.reason
            raise CompileError(
                ExitStatus.COMPILE_FAILED,
                f"variant '{self.base}', with which others are compared, does not run: {reason}",
            )

    def measure(self, variants: Mapping[str, str]) -> list[Trial | None]:
        """Measures the base with options in addition, by name. None: there was no time."""
        words = ["--variant", self.base]
        for name, options in variants.items():
            words += ["--variant", f"{name}={options}"]
        launches = self._run(words, _SEARCH_PART)
        return [_trial(launches, f"{self.base}+{name}") for name in variants]

    def measure_finalists(self, trials: Iterable[Trial]) -> tuple[Trial, ...]:
        """Measures the best again in turn, because times of different minutes hardly compare.

        Goes on with others until none of them was faster in an earlier measurement: a load takes
        what is the fastest in the bundle.
        """
        rest = sorted((each for each in trials if each.nanoseconds is not None), key=_time)
        finalists: list[Trial] = []
        chosen, rest = rest[:_FINALISTS], rest[_FINALISTS:]
        names = [self.base]
        while chosen and not self.is_over(1):
            names += [each.variant for each in chosen]
            words = [word for name in names for word in ("--variant", name)]
            launches = self._run(["--no-cache", *words], 1)
            results = (_trial(launches, name) for name in names)
            finalists = sorted((each for each in results if each is not None), key=_time)
            best = min(map(_time, finalists), default=0)
            chosen = [each for each in rest if _time(each) < best]
            rest = rest[len(chosen) :]
        return tuple(finalists)


def _time(trial: Trial) -> float:
    return float("inf") if trial.nanoseconds is None else trial.nanoseconds


def _trial(launches: Sequence[Mapping[str, Any]], variant: str) -> Trial | None:
    """Returns None if there was no time. A load compares the sums of all launches, too."""
    total = 0
    known = True
    for launch in launches:
        results = [each for each in launch["results"] if each["variant"] == variant]
        times = [each["median_ns"] for each in results if each["median_ns"] is not None]
        if not times and any(each["outcome"] == "out_of_time" for each in results):
            return None
        if not times:
            reasons = [f"{launch['kernel']}: {each['reason']}" for each in results]
            reason = reasons[0] if reasons else f"program '{launch['program']}' lacks it"
            return Trial(variant, None, reason, any(each["measured_before"] for each in results))
        total += min(times)
        known = known and all(each["measured_before"] for each in results)
    return Trial(variant, total, measured_before=known)


# ---- Kernel Tuner --------------------------------------------------------------------------------


class _Trials:
    """The results of the combinations that were chosen, each measured once."""

    def __init__(self, tuning: _Tuning, space: _Space, limit: int, progress: Progress) -> None:
        self.all: dict[str, Trial] = {}  # by the name in the space
        self._tuning = tuning
        self._space = space
        self._limit = limit
        self._progress = progress
        self._is_over = False
        self._repeated = 0

    @property
    def is_over(self) -> bool:
        # A strategy that has found its way back to the same places may never end.
        return (
            self._is_over
            or len(self.all) >= self._limit
            or self._repeated > 100 * len(self._space.names)
            or self._tuning.is_over()
        )

    def results(self, places: Sequence[tuple[int, ...]]) -> list[Trial | None]:
        """Returns the trials of combinations. None: the search is over."""
        names = [self._space.names[each] for each in places]
        new = [name for name in dict.fromkeys(names) if name not in self.all]
        self._repeated = 0 if new else self._repeated + 1
        while new and not self.is_over:
            size = min(_BATCH, self._limit - len(self.all))
            self._measure(new[:size])
            new = new[size:]
        return [self.all.get(name) for name in names]

    def _measure(self, names: Sequence[str]) -> None:
        found = self._tuning.measure({name: self._space.options[name] for name in names})
        for name, trial in zip(names, found):
            if trial is None:
                self._is_over = True
            else:
                self.all[name] = trial
                self._progress(trial, len(self.all))


class _Engine:
    """A strategy of Kernel Tuner."""

    def __init__(self, strategy: str, seed: int, limit: int) -> None:
        try:
            from kernel_tuner.interface import strategy_map
        except ImportError as failure:
            raise CompileError(
                ExitStatus.NO_COMPILER,
                f"Kernel Tuner is missing ({failure}): run 'pip install kernel_tuner'",
            ) from None
        if strategy not in strategy_map:
            known = ", ".join(sorted(strategy_map))
            raise _refused(f"'--strategy {strategy}': there are {known}")
        self.name = strategy
        self.strategy = strategy_map[strategy]
        self.seed = seed
        self.limit = limit
        self.messages: list[str] = []

    def run(self, space: _Space, trials: _Trials) -> None:
        """Lets the strategy choose until it ends, or the trials are over."""
        import numpy

        random.seed(self.seed)
        numpy.random.seed(self.seed % 2**32)
        searchspace, runner, options = self._arguments(space, trials)
        with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.strategy.tune(searchspace, runner, options)
            except (Error, OSError, MemoryError):
                raise
            except ImportError as failure:
                raise CompileError(
                    ExitStatus.NO_COMPILER,
                    f"strategy '{self.name}' requires packages that are missing: {failure}",
                ) from None
            except Exception as failure:  # what was measured until then is a result
                text = f"{type(failure).__name__}: {failure}".partition("\n")[0]
                if not trials.all:
                    raise _refused(f"strategy '{self.name}' failed: {text}") from failure
                if not trials.is_over:
                    self.messages.append(f"warning: strategy '{self.name}' failed: {text}")

    def _strategy_options(self) -> dict[str, int]:
        if self.name == "brute_force":  # which accepts none
            return {}
        limit = {"max_fevals": self.limit}
        # It fails if it has no evaluations left after its first samples.
        return {**limit, "popsize": min(20, self.limit // 2)} if self.name == "bayes_opt" else limit

    def _arguments(self, space: _Space, trials: _Trials) -> tuple[Any, Any, Any]:
        from kernel_tuner.interface import Options
        from kernel_tuner.searchspace import Searchspace
        from kernel_tuner.util import TuningBudget

        # Numbers of values stand for them: many strategies compute with them.
        places = {macro: list(range(len(values))) for macro, values in space.values.items()}
        combinations = {
            name: dict(zip(places, combination)) for combination, name in space.names.items()
        }
        built = {"tune_params": places, "cache": combinations}
        searchspace = Searchspace(None, None, None, from_cache=built)
        budget = TuningBudget(None, self.limit)
        options = Options(
            budget=budget,
            cache={},
            max_fevals=self.limit,
            metrics=None,
            objective=["time"],
            objective_higher_is_better=[False],
            restrictions=[],
            restrictions_unmodified=[],
            seed=self.seed,
            simulation_mode=False,
            strategy=self.name,
            strategy_options=Options(self._strategy_options()),
            tune_params=places,
            verbose=False,
        )
        return searchspace, _runner(places, trials, budget), options


def _runner(places: Mapping[str, Sequence[int]], trials: _Trials, budget: Any) -> Any:
    """Returns what Kernel Tuner's strategies measure with."""
    from kernel_tuner.runners.runner import Runner
    from kernel_tuner.util import InvalidConfig

    class OclccRunner(Runner):  # type: ignore[misc]
        dev = argparse.Namespace(max_threads=0, name="")  # oclcc knows the limits

        def get_device_info(self) -> Any:
            return self.dev

        def get_environment(self, tuning_options: Any) -> dict[str, Any]:
            return {}

        def run(self, parameter_space: Any, tuning_options: Any) -> list[dict[str, Any] | None]:
            chosen = [tuple(int(each) for each in element) for element in parameter_space]
            results = [
                None if trial is None else self.result(element, trial)
                for element, trial in zip(chosen, trials.results(chosen))
            ]
            budget.num_fevals = budget.max_fevals if trials.is_over else len(trials.all)
            return results

        @staticmethod
        def result(element: Sequence[int], trial: Trial) -> dict[str, Any]:
            result: dict[str, Any] = dict(zip(places, element))
            if trial.nanoseconds is None:
                result["time"] = result["__error__"] = InvalidConfig(trial.reason)
            else:
                result["time"] = float(trial.nanoseconds)
            return result

    return OclccRunner()


# ---- The command ---------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _refused(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python3 -m clbin.kernel_tuner",
        description="Searches a large space of variants with a strategy of Kernel Tuner.",
        epilog="The other options are those of oclcc --tune: oclcc-tuning(7).",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("bundle", metavar="BUNDLE")
    add("--variants", metavar="'MACRO=VALUE,...'", required=True, help="as for oclcc --variants")
    add("--strategy", default=STRATEGY, metavar="NAME", help="of Kernel Tuner (%(default)s)")
    add(
        "--max-evaluations",
        type=int,
        default=MAX_EVALUATIONS,
        metavar="N",
        help="combinations to choose (%(default)s)",
    )
    add("--seed", type=int, default=0, metavar="N", help="of random numbers (%(default)s)")
    add("--launch", action="append", default=[])
    add("--device", action="append", default=[])
    add("--tune-seconds", type=int, default=0, metavar="N")
    add("-o", dest="output", metavar="BUNDLE")
    for option in ("--tolerance", "--timeout", "--memory-limit"):
        add(option)
    add("--no-cache", action="store_true")
    return parser


def _forwarded(options: argparse.Namespace) -> list[str]:
    given = [(name, getattr(options, name)) for name in ("tolerance", "timeout", "memory_limit")]
    words = [f"--{name.replace('_', '-')}={value}" for name, value in given if value is not None]
    return words + (["--no-cache"] if options.no_cache else [])


def _print_progress(limit: int) -> Progress:
    def show(trial: Trial, number: int) -> None:
        what = f"refused: {trial.reason}"
        if trial.nanoseconds is not None:
            what = _text(trial.nanoseconds) + (", measured before" * trial.measured_before)
        print(f"{number}/{limit}  {trial.variant}  {what}", file=sys.stderr, flush=True)  # noqa: T201

    return show


def _text(nanoseconds: int) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds} ns"


def _summary(found: Found, strategy: str) -> str:
    refused = sum(each.nanoseconds is None for each in found.trials)
    before = sum(each.measured_before for each in found.trials)
    lines = [
        f"{strategy}: {len(found.trials)} of {found.combinations} combinations measured, {before} "
        f"of them before, {refused} refused; {len(found.finalists)} variants again, in turn:"
    ]
    width = max((len(each.variant) for each in found.finalists), default=0)
    best = min(map(_time, found.finalists), default=1)
    for each in found.finalists:
        name = f"  {each.variant:<{width}}"
        if each.nanoseconds is None:
            lines.append(f"{name}  refused: {each.reason}")
        else:
            lines.append(f"{name}  {_text(each.nanoseconds):>8}  {each.nanoseconds / best:.2f}")
    return "\n".join(lines)


def _expanded(words: Sequence[str]) -> list[str]:
    """Replaces @FILE by the words of the file, as oclcc does, but not in such a file."""
    all_words: list[str] = []
    for word in words:
        if not word.startswith("@"):
            all_words.append(word)
            continue
        try:
            with open(word[1:], encoding="utf-8") as file:
                all_words += shlex.split(file.read())
        except OSError as failure:
            message = f"cannot read '{word[1:]}': {failure.strerror}"
            raise CompileError(ExitStatus.FILE, message) from None
        except ValueError as failure:  # not UTF-8, or a quote without an end
            raise _refused(f"'{word[1:]}': {failure}") from None
    return all_words


def _search_of(words: Sequence[str]) -> tuple[Found, str]:
    options = _parser().parse_args(_expanded(words))
    found = search(
        options.bundle,
        options.variants,
        launches=options.launch,
        devices=options.device,
        strategy=options.strategy,
        max_evaluations=options.max_evaluations,
        seed=options.seed,
        seconds=options.tune_seconds,
        output=options.output,
        arguments=_forwarded(options),
        progress=_print_progress(options.max_evaluations),
    )
    return found, _summary(found, options.strategy)


def _end(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)  # ends the oclcc that runs, too


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit status, which is one of oclcc(1)."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    try:
        found, summary = _search_of(sys.argv[1:] if words is None else words)
    except Error as failure:
        message = failure.message.removeprefix("oclcc: error: ")
        print(f"clbin.kernel_tuner: error: {message}", file=sys.stderr)  # noqa: T201
        return int(failure.code)
    for message in found.warnings:
        print(message, file=sys.stderr)  # noqa: T201
    print(summary)  # noqa: T201
    has_times = any(each.nanoseconds is not None for each in found.trials)
    return ExitStatus.DONE if has_times else ExitStatus.COMPILE_FAILED


if __name__ == "__main__":
    sys.exit(main())
