"""The program around a check that runs one application on one platform: through_the_layer.py and
own_cache.py."""

import pathlib
import tempfile

from applications import skip, why_missing


def add_arguments(parser):
    """Adds the arguments that every check has."""
    parser.add_argument("platform", type=pathlib.Path)
    parser.add_argument("--layer", required=True)
    parser.add_argument("--oclcc", required=True)


def check_application(check_type, application, options, programs=""):
    """Makes a check_type(application, options) and calls its run(folder) with a temporary folder.
    Prints its `failures`, and removes its `caches`. Returns the exit status. Skips an application
    that is not installed, and a missing platform."""
    if reason := why_missing(application, programs):
        skip(reason)
    if not options.platform.exists():
        skip(f"{options.platform} does not exist: the platform is not installed")
    check = check_type(application, options)
    try:
        with tempfile.TemporaryDirectory(prefix="clbin-recording-") as folder:
            check.run(folder)
    finally:
        check.caches.remove()
    for failure in check.failures:
        print(f"FAILED {application.name} on {options.platform.stem}: {failure}")
    return 1 if check.failures else 0
