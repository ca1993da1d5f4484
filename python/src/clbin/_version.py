"""The version of the package, which equals that of libclbin."""

__version__ = "1.0.0"
