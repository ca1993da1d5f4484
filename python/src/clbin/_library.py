"""The functions and structs of clbin.h, in the libclbin that the package contains.

python/tests/test_declarations.py compares them with clbin.h.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    c_char_p,
    c_int,
    c_int32,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)

NATIVE_DIRECTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_native")


class KeyStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_int),
        ("bytes", c_uint8 * 32),
    ]


class KeyRequestStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("key_id", c_void_p),
        ("recipients", c_void_p),
        ("recipient_count", c_size_t),
    ]


KeyFunction = CFUNCTYPE(c_int, POINTER(KeyRequestStruct), POINTER(KeyStruct), c_void_p)


class OpenOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("max_directory_bytes", c_uint64),
        ("max_raw_bytes", c_uint64),
        ("max_total_raw_bytes", c_uint64),
        ("max_memory_bytes", c_uint64),
        ("public_keys", c_void_p),
        ("public_key_count", c_size_t),
        ("signature_policy", c_int),
        ("unsigned_builds", c_int),
        ("least_counter", c_uint64),
        ("key", KeyFunction),
        ("key_user_data", c_void_p),
        ("decrypted_builds", c_int),
        ("cache_dir", c_char_p),
    ]


class GroupStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("program", c_char_p),
        ("variant", c_char_p),
        ("options", c_char_p),
        ("entry_count", c_size_t),
        ("has_source", c_int),
        ("required", c_char_p),
    ]


class EntryStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("platform", c_char_p),
        ("device", c_char_p),
        ("driver_version", c_char_p),
        ("target_spec", c_char_p),
        ("format", c_char_p),
        ("options", c_char_p),
        ("raw_digest", c_char_p),
        ("raw_bytes", c_uint64),
        ("stored_bytes", c_uint64),
        ("kernel_count", c_size_t),
        ("extensions", c_char_p),
    ]


class KernelStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("required_work_group_size", c_uint64 * 3),
        ("argument_count", c_int32),
    ]


class ArgumentStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("type", c_char_p),
    ]


class IdentityStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("platform_name", c_char_p),
        ("platform_version", c_char_p),
        ("vendor", c_char_p),
        ("device_name", c_char_p),
        ("driver_version", c_char_p),
        ("device_version", c_char_p),
        ("opencl_c_versions", c_char_p),
        ("il_versions", c_char_p),
        ("architecture", c_char_p),
        ("vendor_id", c_uint32),
        ("address_bits", c_uint32),
    ]


class SelectionStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("data", c_void_p),
        ("size_bytes", c_size_t),
        ("format", c_char_p),
        ("options", c_char_p),
        ("rule", c_char_p),
        ("rule_number", c_int),
        ("kernels", POINTER(c_char_p)),
        ("kernel_count", c_size_t),
    ]


class ReportStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("origin", c_int),
        ("microseconds", c_uint64),
        ("program", c_char_p),
        ("variant", c_char_p),
        ("devices", POINTER(c_char_p)),
        ("device_count", c_size_t),
        ("warnings", POINTER(c_char_p)),
        ("warning_count", c_size_t),
        ("attempt_count", c_size_t),
        ("extensions", c_char_p),
        ("variant_reason", c_char_p),
    ]


class AttemptStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("decision", c_int),
        ("origin", c_int),
        ("device", c_uint32),
        ("target", c_char_p),
        ("rule", c_char_p),
        ("reason", c_char_p),
        ("stage", c_char_p),
        ("driver_log", c_char_p),
        ("cl_code", c_int32),
        ("microseconds", c_uint64),
        ("cl_code_name", c_char_p),
        ("entry", c_int32),
        ("rule_number", c_int),
        ("pack", c_char_p),
    ]


# The parameter `user_data` of each callback is not used.
ReadFunction = CFUNCTYPE(c_int, c_uint64, c_void_p, c_size_t, c_void_p)
WriteFunction = CFUNCTYPE(c_int, c_void_p, c_size_t, c_void_p)
ResolveFunction = CFUNCTYPE(c_void_p, c_char_p, c_void_p)
AttemptCallback = CFUNCTYPE(None, POINTER(AttemptStruct), c_void_p)


class ConstantStruct(ctypes.Structure):
    _fields_ = [
        ("id", c_uint32),
        ("size_bytes", c_size_t),
        ("value", c_void_p),
    ]


class LoadOptionsStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("variant", c_char_p),
        ("build_options", c_char_p),
        ("fallback", c_int),
        ("constants", POINTER(ConstantStruct)),
        ("constant_count", c_size_t),
        ("resolve", ResolveFunction),
        ("resolve_user_data", c_void_p),
        ("callback", AttemptCallback),
        ("callback_user_data", c_void_p),
        ("library", c_void_p),
        ("store", c_int),
        ("answers", c_void_p),
        ("answers_ms", c_uint32),
        ("problem_size", POINTER(c_size_t)),
        ("problem_dimensions", c_size_t),
    ]


class WarmedStruct(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("from_entries", c_size_t),
        ("from_user_cache", c_size_t),
        ("built", c_size_t),
        ("failed", c_size_t),
        ("unsuitable", c_size_t),
        ("remaining", c_size_t),
    ]


class BuilderOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("cache", c_int),
        ("cache_on_pocl", c_int),
        ("cache_dir", c_char_p),
        ("cache_max_bytes", c_uint64),
        ("signature_policy", c_int),
        ("unsigned_builds", c_int),
        ("reuse", c_int),
    ]


class Source(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("strings", POINTER(c_char_p)),
        ("lengths", POINTER(c_size_t)),
        ("string_count", c_size_t),
        ("il", c_void_p),
        ("il_bytes", c_size_t),
        ("header_names", POINTER(c_char_p)),
        ("header_texts", POINTER(c_char_p)),
        ("header_count", c_size_t),
        ("options", c_char_p),
        ("label", c_char_p),
    ]


_ERROR = POINTER(c_void_p)
_HANDLE = c_void_p
_OUT = POINTER(c_void_p)
_TEXT = c_char_p
_DEVICES = POINTER(c_void_p)
_STATUS = c_int
_LOAD_OPTIONS = POINTER(LoadOptionsStruct)
_BUILD = (_HANDLE, c_void_p, _DEVICES, c_size_t, POINTER(Source), _LOAD_OPTIONS)

# Name: (result, parameters…), in the order of clbin.h.
FUNCTIONS: dict[str, tuple[object, ...]] = {
    "clbin_version": (c_uint32,),
    "clbin_status_name": (_TEXT, c_int),
    "clbin_error_message": (_TEXT, _HANDLE),
    "clbin_error_opencl_code": (c_int32, _HANDLE),
    "clbin_error_stage": (_TEXT, _HANDLE),
    "clbin_error_build_log": (_TEXT, _HANDLE),
    "clbin_error_free": (None, _HANDLE),
    "clbin_public_key_from_text": (_STATUS, _TEXT, c_void_p, _ERROR),
    "clbin_key_from_text": (_STATUS, _TEXT, POINTER(KeyStruct), _ERROR),
    "clbin_open": (_STATUS, _TEXT, POINTER(OpenOptions), _OUT, _ERROR),
    "clbin_open_set": (_STATUS, _TEXT, POINTER(OpenOptions), _OUT, _ERROR),
    "clbin_open_memory": (_STATUS, c_void_p, c_size_t, POINTER(OpenOptions), _OUT, _ERROR),
    "clbin_open_callback": (
        _STATUS,
        ReadFunction,
        c_void_p,
        c_uint64,
        POINTER(OpenOptions),
        _OUT,
        _ERROR,
    ),
    "clbin_close": (None, _HANDLE),
    "clbin_verify": (_STATUS, _HANDLE, _ERROR),
    "clbin_is_current": (c_int, _HANDLE),
    "clbin_counter": (_STATUS, _HANDLE, POINTER(c_uint64), _ERROR),
    "clbin_list": (_STATUS, _HANDLE, _OUT, _ERROR),
    "clbin_listing_free": (None, _HANDLE),
    "clbin_listing_group_count": (c_size_t, _HANDLE),
    "clbin_listing_group": (_STATUS, _HANDLE, c_size_t, POINTER(GroupStruct)),
    "clbin_listing_entry": (_STATUS, _HANDLE, c_size_t, c_size_t, POINTER(EntryStruct)),
    "clbin_listing_kernel": (_STATUS, _HANDLE, *[c_size_t] * 3, POINTER(KernelStruct)),
    "clbin_listing_argument": (_STATUS, _HANDLE, *[c_size_t] * 4, POINTER(ArgumentStruct)),
    "clbin_list_json": (_STATUS, _HANDLE, WriteFunction, c_void_p, _ERROR),
    "clbin_select": (_STATUS, _HANDLE, POINTER(IdentityStruct), _TEXT, _TEXT, _OUT, _ERROR),
    "clbin_selection_free": (None, _HANDLE),
    "clbin_selection_get": (_STATUS, _HANDLE, POINTER(SelectionStruct)),
    "clbin_check_answers": (c_void_p, c_int),
    "clbin_identity_query": (
        _STATUS,
        c_void_p,
        _LOAD_OPTIONS,
        POINTER(POINTER(IdentityStruct)),
        _ERROR,
    ),
    "clbin_identity_free": (None, POINTER(IdentityStruct)),
    "clbin_recommended_size": (
        _STATUS,
        _HANDLE,
        c_void_p,
        _TEXT,
        _TEXT,
        _TEXT,
        POINTER(c_size_t),
        c_size_t,
        _LOAD_OPTIONS,
        POINTER(c_size_t),
        _ERROR,
    ),
    "clbin_load": (
        _STATUS,
        _HANDLE,
        c_void_p,
        _DEVICES,
        c_size_t,
        _TEXT,
        _LOAD_OPTIONS,
        _OUT,
        _OUT,
        _ERROR,
    ),
    "clbin_warm": (
        _STATUS,
        _HANDLE,
        c_void_p,
        c_void_p,
        _TEXT,
        _LOAD_OPTIONS,
        c_uint32,
        POINTER(WarmedStruct),
        _ERROR,
    ),
    "clbin_builder_create": (_STATUS, POINTER(BuilderOptions), _OUT, _ERROR),
    "clbin_builder_add_bundle": (_STATUS, _HANDLE, _HANDLE, _ERROR),
    "clbin_builder_add_file": (_STATUS, _HANDLE, _TEXT, POINTER(OpenOptions), c_int, _ERROR),
    "clbin_builder_add_files_of": (_STATUS, _HANDLE, _TEXT, POINTER(OpenOptions), _ERROR),
    "clbin_builder_free": (None, _HANDLE),
    "clbin_clear_cache": (_STATUS, _TEXT, _ERROR),
    "clbin_build": (_STATUS, *_BUILD, _OUT, _OUT, _ERROR),
    "clbin_report_get": (_STATUS, _HANDLE, POINTER(ReportStruct)),
    "clbin_report_attempt": (_STATUS, _HANDLE, c_size_t, POINTER(AttemptStruct)),
    "clbin_report_text": (_TEXT, _HANDLE),
    "clbin_report_json": (_TEXT, _HANDLE),
    "clbin_report_free": (None, _HANDLE),
}


def _open_library() -> ctypes.CDLL:
    # ctypes releases the GIL during each call of a CDLL.
    library = ctypes.CDLL(os.path.join(NATIVE_DIRECTORY, "libclbin.so.1"))
    for name, (result, *parameters) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = parameters
    return library


library = _open_library()
