"""The pinned numbers of clbin.h and of oclcc's exit status."""

from enum import IntEnum


class Status(IntEnum):
    """Why a call of libclbin failed. Numbers are pinned and never reused."""

    SUCCESS = 0
    INVALID_ARGUMENT = 10
    OUT_OF_MEMORY = 11
    INTERNAL = 12
    FILE_NOT_FOUND = 20
    FILE_READ = 21
    FILE_WRITE = 22
    NOT_A_BUNDLE = 30
    TRUNCATED = 31
    NEWER_VERSION = 32
    UNKNOWN_REQUIRED_SECTION = 33
    DAMAGED = 34
    DIGEST_MISMATCH = 35
    LIMIT_EXCEEDED = 36
    TRAILING_BYTES = 37
    MANIFEST_INVALID = 38
    ENCRYPTED = 39
    NO_SUCH_PROGRAM = 40
    NO_SUCH_VARIANT = 41
    NO_MATCHING_ENTRY = 42
    NO_SOURCE = 43
    CONFLICT = 44
    UNSAFE_OPTIONS = 45
    NO_OPENCL = 50
    NO_DEVICE = 51
    OPENCL_CALL = 52
    BUILD_FAILED = 53
    BINARY_REFUSED = 54
    SEVERAL_DEVICES_REFUSED = 55
    NOT_SIGNED = 60
    UNTRUSTED_KEY = 61
    BAD_SIGNATURE = 62
    OLD_COUNTER = 63
    WRONG_KEY = 64


class ExitStatus(IntEnum):
    """The exit status of oclcc(1)."""

    DONE = 0
    COMPILE_FAILED = 1
    COMMAND_LINE = 2
    FILE = 3
    NOT_A_BUNDLE = 4
    NO_COMPILER = 5
    INTERNAL = 6


class Fallback(IntEnum):
    """What a load does if no device binary serves."""

    IF_NEEDED = 0
    """Builds IL or source if neither an entry nor the user cache serves."""
    NEVER = 1
    """Uses only the device binaries of the bundle."""
    ALWAYS = 2
    """Builds only source, or IL if specialization constants are set."""


class Answers(IntEnum):
    """When a load checks known answers."""

    NEVER = 0
    ONCE = 1
    """Remembers in the user cache what it finds."""
    ALWAYS = 2


class Origin(IntEnum):
    """Where a program came from."""

    NONE = 0
    ENTRY = 1
    USER_CACHE = 2
    IL = 3
    SOURCE = 4


class Decision(IntEnum):
    """The result of one attempt of a load."""

    LOADED = 0
    REFUSED = 1
    NOT_ATTEMPTED = 2
    UNREADABLE = 3
    ACCEPTED = 4
    RECOMPILED = 5
    WRONG_ANSWER = 6


class Rule(IntEnum):
    """Why an entry was selected or attempted."""

    NONE = 0
    EXACT_IDENTITY = 1
    COMPATIBLE = 2
    IL = 3
    NOT_COMPATIBLE = 4
    USER_CACHE = 5
    RECOMPILED = 6
    SEVERAL_DEVICES = 7
    SOURCE = 8
    SAME_PROCESS = 9


class SignaturePolicy(IntEnum):
    """Whether a signature is required."""

    IGNORED = 0
    REQUIRED = 1


class KeyKind(IntEnum):
    """What opens an encrypted bundle."""

    CONTENT = 1
    RECIPIENT = 2


class Switch(IntEnum):
    """A setting that the environment can also make."""

    DEFAULT = 0
    ON = 1
    OFF = 2
