"""The applications that are run through libclbin_layer.so, unchanged, and how one run is started.
tests/applications/through_the_layer.py compares their results; bench/application_start.py measures
them."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
LIMIT_S = 600


def without_numbers(text):
    """For an application that prints measurements."""
    return re.sub(r"\d+(\.\d+)?", "N", text)


def unchanged(text):
    return text


def words_of(line):
    return tuple(line.split())


@dataclasses.dataclass(frozen=True)
class Application:
    name: str
    words: tuple  # of the command line; {programs} is the folder of compiled applications
    answer: callable = unchanged  # of standard output: what must be equal
    needs: str = ""  # a module of Debian's Python
    command: str = ""  # that the first word calls
    variables: dict = dataclasses.field(default_factory=dict)
    unlaunched: str = ""  # the first kernel of a program that it builds and never launches


# Debian's Python, because other ones do not see its packages.
PYTHON = "/usr/bin/python3"

APPLICATIONS = (
    Application("clblast", ("{programs}/linear_algebra",)),
    Application("viennacl", ("{programs}/vector_library",)),
    Application("boost_compute", ("{programs}/algorithms",)),
    Application(
        "pyopencl",
        (PYTHON, f"{FOLDER}/array_library.py"),
        needs="pyopencl",
        unlaunched="reduce_kernel_stage2",
    ),
    Application("clpeak", ("clpeak", "--kernel-latency"), answer=without_numbers),
    # On a device of any type, instead of a GPU.
    Application(
        "opencv",
        (PYTHON, f"{FOLDER}/pictures.py"),
        needs="cv2",
        variables={"OPENCV_OPENCL_DEVICE": ":CPU", "OPENCV_OPENCL_CACHE_ENABLE": "0"},
    ),
    Application(
        "ffmpeg",
        words_of(
            "ffmpeg -nostdin -hide_banner -loglevel error"
            " -init_hw_device opencl=device:0.0 -filter_hw_device device"
            " -f lavfi -i testsrc2=size=64x48 -frames:v 1 -vf"
            " format=yuv444p,hwupload,avgblur_opencl=2,unsharp_opencl,hwdownload,format=yuv444p"
            " -f framemd5 -"
        ),
    ),
    Application(
        "gegl",
        (
            f"{FOLDER}/graph.sh",
            *words_of("gegl:checkerboard crop width=96 height=80 gegl:gaussian-blur"),
            *words_of("std-dev-x=2 std-dev-y=1 gegl:brightness-contrast contrast=1.4"),
        ),
        command="gegl",
        variables={"GEGL_USE_OPENCL": "cpu"},
        unlaunched="rgb_gamma_u8_to_rgbaf",
    ),
    Application(
        "hashcat",
        words_of(
            "hashcat --force --quiet --potfile-disable --backend-ignore-cuda -D 1,2"
            " -m 0 -a 3 2f55707d4193dc27118a0f19a1985716 ?d?d?d"
        ),
    ),
)


def why_missing(application, programs):
    """Returns why the application cannot run here, or an empty string."""
    command = application.command or application.words[0].format(programs=programs)
    if shutil.which(command) is None:
        return f"{command} is not installed"
    if (
        application.needs
        and subprocess.run(
            [PYTHON, "-c", f"import {application.needs}"], capture_output=True
        ).returncode
        != 0
    ):
        return f"{PYTHON} has no module {application.needs}"
    return ""


class Caches:
    """The folders of one application on one platform: the driver's and the application's own caches,
    and libclbin's, which can be emptied apart from each other."""

    def __init__(self, platform):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="clbin-application-"))
        (self.folder / "vendors").mkdir()
        shutil.copy(platform, self.folder / "vendors")
        self.empty("driver")
        self.empty("clbin")

    def empty(self, kind):
        shutil.rmtree(self.folder / kind, ignore_errors=True)
        (self.folder / kind).mkdir(mode=0o700)

    def environment(self):
        driver = str(self.folder / "driver")
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CLBIN_", "OPENCL_", "POCL_"))
        }
        return kept | {
            "HOME": driver,
            "XDG_CACHE_HOME": driver,
            "XDG_CONFIG_HOME": driver,
            "XDG_DATA_HOME": driver,
            "POCL_CACHE_DIR": driver + "/pocl",
            "CUDA_CACHE_PATH": driver + "/cuda",
            "MESA_SHADER_CACHE_DIR": driver + "/mesa",
            "OCL_ICD_VENDORS": str(self.folder / "vendors"),
            "RUSTICL_ENABLE": "llvmpipe",
            "CLBIN_CACHE_DIR": str(self.folder / "clbin"),
            "CLBIN_CACHE_POCL": "1",
            # Otherwise, PyOpenCL appends a random name to a source that its own cache misses, so that
            # no other cache can serve it.
            "PYOPENCL_NO_CACHE": "1",
        }

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclasses.dataclass
class Run:
    status: int
    output: str
    errors: str
    log: list  # lines of the layer's log, without its name and process

    def outcomes(self, word):
        return [line for line in self.log if line.startswith(word)]


def command_of(application, programs):
    return [word.format(programs=programs) for word in application.words]


def run(command, environment, layer=None, mode="cache", bundles=()):
    """Runs a command once, through the layer unless `layer` is None."""
    environment = dict(environment)
    with tempfile.NamedTemporaryFile(prefix="clbin-layer-log-") as log:
        if layer is not None:
            environment |= {
                "OPENCL_LAYERS": str(layer),
                "CLBIN_LAYER_MODE": mode,
                "CLBIN_LAYER_LOG": log.name,
                "CLBIN_LAYER_BUNDLES": ":".join(str(bundle) for bundle in bundles),
            }
        with tempfile.TemporaryDirectory(prefix="clbin-application-cwd-") as folder:
            done = subprocess.run(
                command,
                env=environment,
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT_S,
            )
        lines = [
            re.sub(r"^libclbin_layer\[\d+\]: ", "", line)
            for line in log.read().decode(errors="replace").splitlines()
        ]
    return Run(done.returncode, done.stdout, done.stderr, lines)


def platform_files(folder):
    return sorted(pathlib.Path(folder).glob("*.icd"))


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)
