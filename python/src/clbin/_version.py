"""The version of the package, which equals that of libclbin."""

__version__ = "0.1.0"
