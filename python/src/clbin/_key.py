"""Keys of encrypted bundles."""

from __future__ import annotations

from ctypes import byref, memmove, sizeof, string_at
from typing import NamedTuple

from ._enums import KeyKind, Status
from ._errors import ArgumentError, argument, call
from ._library import KeyFunction, KeyRequestStruct, KeyStruct, library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Union

    from ._bundle import BytesLike

    KeyLike = Union[BytesLike, str, "Key"]
    KeyOption = Union[KeyLike, Callable[["KeyRequest"], KeyLike]]

KEY_BYTES = 32


class KeyRequest(NamedTuple):
    """Which key opens an encrypted bundle. Untrusted unless a signature is required.

    key_id: 32 bytes that identify the content key.
    recipients: X25519 public keys, whose secret keys open the bundle, too.
    """

    key_id: bytes
    recipients: tuple[bytes, ...]


class Key:
    """What opens an encrypted bundle. Python cannot overwrite its memory when it is not used any
    more; pass a function as `key` of a Bundle if the key shall not stay in memory.

    content: the 32 bytes of the key that the contents are encrypted with. They are copied.
    recipient: the 32 bytes of a recipient's X25519 secret key. Exactly one of the two is given.

    Raises ArgumentError.
    """

    def __init__(
        self, *, content: BytesLike | None = None, recipient: BytesLike | None = None
    ) -> None:
        if (content is None) == (recipient is None):
            raise TypeError("either 'content' or 'recipient' is needed")
        self._kind = KeyKind.RECIPIENT if content is None else KeyKind.CONTENT
        self._content = _bytes_of_key(recipient if content is None else content)

    @classmethod
    def from_text(cls, text: str) -> Key:
        """Reads the text of a key file of oclcc --keygen, or its second line.

        Raises ArgumentError.
        """
        raw = KeyStruct(struct_size=sizeof(KeyStruct))
        call(library.clbin_key_from_text, argument(text, "text"), byref(raw))
        content = bytes(raw.bytes)
        return cls(content=content) if raw.kind == KeyKind.CONTENT else cls(recipient=content)

    def __repr__(self) -> str:
        return f"<clbin.Key {self._kind.name.lower()}>"

    def _store(self, raw: KeyStruct) -> None:
        raw.kind = self._kind
        memmove(raw.bytes, self._content, KEY_BYTES)


class KeyCallback:
    """A clbin_key_function that calls a function of the caller and keeps its exception.

    function: for clbin_open_options. It is called only while this object exists.
    error: what the caller's function raised, or None.
    """

    def __init__(self, key: KeyOption) -> None:
        self.error: BaseException | None = None
        if not callable(key):
            fixed = _key_of(key)  # before anything is opened
            self._ask: Callable[[KeyRequest], KeyLike] = lambda _request: fixed
        else:
            self._ask = key
        self.function = KeyFunction(self._call)

    def _call(self, request: Any, raw: Any, _user_data: object) -> int:
        try:
            _key_of(self._ask(_request_of(request.contents)))._store(raw.contents)
        except BaseException as error:  # an exception cannot pass through libclbin
            self.error = error
            return 1
        return 0


def _bytes_of_key(content: BytesLike | None) -> bytes:
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise TypeError(f"a key must be bytes-like, not {type(content).__name__}")
    copy = bytes(content)
    if len(copy) != KEY_BYTES:
        raise ArgumentError(
            Status.INVALID_ARGUMENT, f"a key has {KEY_BYTES} bytes, not {len(copy)}"
        )
    return copy


def _key_of(key: KeyLike) -> Key:
    if isinstance(key, Key):
        return key
    if isinstance(key, (bytes, bytearray, memoryview)):
        return Key(content=key)
    if isinstance(key, str):
        return Key.from_text(key)
    raise TypeError(f"a key must be bytes-like, str or clbin.Key, not {type(key).__name__}")


def _request_of(request: KeyRequestStruct) -> KeyRequest:
    def keys(pointer: int | None, count: int) -> tuple[bytes, ...]:
        content = b"" if pointer is None else string_at(pointer, count * KEY_BYTES)
        return tuple(
            content[start : start + KEY_BYTES] for start in range(0, len(content), KEY_BYTES)
        )

    return KeyRequest(keys(request.key_id, 1)[0], keys(request.recipients, request.recipient_count))
