"""Encrypted bundles. The keys and the bundles are made by oclcc."""

import subprocess
import traceback

import pytest
from conftest import run_scale

import clbin
from clbin._command import command_path


@pytest.fixture
def key(tmp_path):
    """A function that makes a key and returns the path of its files, without suffix."""

    def make(name, kind):
        command = [command_path(), "--keygen", str(tmp_path / name), "--key-type", kind]
        subprocess.run(command, check=True)
        return tmp_path / name

    return make


@pytest.fixture
def encrypt(tmp_path):
    """A function that returns the path of an encrypted copy of a bundle."""

    def make(content, *options):
        path = tmp_path / "encrypted.clbin"
        path.write_bytes(content)
        subprocess.run([command_path(), "--encrypt", *map(str, options), str(path)], check=True)
        return path

    return make


@pytest.fixture
def content(key, encrypt, offline_bundle):
    """A bundle that is encrypted with a content key, and the text of its key file."""
    name = key("content", "content")
    path = encrypt(offline_bundle, "--encrypt-key", f"{name}.key")
    return path, name.with_suffix(".key").read_text()


def test_opens_with_a_key_in_every_form(content):
    path, text = content
    second_line = text.splitlines()[1]
    requests = []

    def raw(request):
        requests.append(request)
        return key_bytes(text)

    for key in (
        text,
        second_line,
        key_bytes(text),
        bytearray(key_bytes(text)),
        memoryview(key_bytes(text)),
        memoryview(key_bytes(text)).cast("I"),
        clbin.Key.from_text(text),
        clbin.Key(content=key_bytes(text)),
        clbin.Key(content=bytearray(key_bytes(text))),
        raw,
        lambda _request: bytearray(key_bytes(text)),
        lambda _request: text,
        lambda _request: clbin.Key.from_text(second_line),
    ):
        for source in (path, path.read_bytes()):
            with clbin.Bundle(source, key=key) as bundle:
                bundle.verify()
                assert list(bundle.programs) == ["scale"]
                assert '"key_given": true' in bundle.json()
    assert len(requests) == 2
    assert len(requests[0].key_id) == 32
    assert requests[0].recipients == ()


def key_bytes(text):
    import base64

    return base64.b64decode(text.splitlines()[1])[2:34]


def test_opens_for_each_recipient(key, encrypt, offline_bundle):
    names = [key(name, "recipient") for name in ("one", "two")]
    options = [word for name in names for word in ("--encrypt-for", f"{name}.pub")]
    path = encrypt(offline_bundle, *options)
    for name in names:
        requests = []

        def ask(request, name=name, requests=requests):
            requests.append(request)
            return name.with_suffix(".key").read_text()

        with clbin.Bundle(path, key=ask) as bundle:
            bundle.verify()
        assert {len(each) for each in requests[0].recipients} == {32}
        assert set(requests[0].recipients) == {
            key_bytes(other.with_suffix(".pub").read_text()) for other in names
        }
        secret = clbin.Key(recipient=key_bytes(name.with_suffix(".key").read_text()))
        clbin.Bundle(path, key=secret).close()


def test_lists_without_a_key_what_is_not_encrypted(content):
    path, _text = content
    with clbin.Bundle(path) as bundle:
        assert list(bundle.programs) == ["scale"]
        assert '"key_given": false' in bundle.json()
        with pytest.raises(clbin.EncryptedError) as caught:
            bundle.verify()
        assert caught.value.code == clbin.Status.ENCRYPTED
        assert isinstance(caught.value, clbin.BundleError)
        with clbin.Builder() as builder, pytest.raises(clbin.EncryptedError):
            builder.add_bundle(bundle)


def test_refuses_a_key_that_does_not_open_the_bundle(content):
    path, text = content
    for key in (bytes(31) + b"\1", clbin.Key(recipient=key_bytes(text))):
        with pytest.raises(clbin.EncryptedError) as caught:
            clbin.Bundle(path, key=key)
        assert caught.value.code == clbin.Status.WRONG_KEY


def test_raises_what_the_function_raises(content, offline_bundle):
    path, _text = content

    class NoLicenceError(Exception):
        pass

    def refuse(request):
        raise NoLicenceError(request.key_id)

    with pytest.raises(NoLicenceError) as caught:
        clbin.Bundle(path, key=refuse)
    assert len(caught.value.args[0]) == 32
    clbin.Bundle(offline_bundle, key=refuse).close()  # not called
    for wrong, error in ((3, TypeError), (None, TypeError), (b"short", clbin.ArgumentError)):
        with pytest.raises(error):
            clbin.Bundle(path, key=lambda _request, wrong=wrong: wrong)


def test_rejects_keys_that_are_none(content, offline_bundle):
    path, text = content
    for wrong in (3, [], ("a",)):
        with pytest.raises(TypeError, match="a key must be bytes-like, str or clbin.Key"):
            clbin.Bundle(offline_bundle, key=wrong)
    for wrong in ("", "no key", b"", bytes(33), bytearray(31), memoryview(b""), text[:-8], "\0"):
        with pytest.raises(clbin.ArgumentError):
            clbin.Bundle(path, key=wrong)
    for arguments in ({}, {"content": bytes(32), "recipient": bytes(32)}, {"content": "a" * 32}):
        with pytest.raises(TypeError):
            clbin.Key(**arguments)
    with pytest.raises(clbin.ArgumentError):
        clbin.Key(recipient=b"short")
    with pytest.raises(clbin.ArgumentError):
        clbin.Bundle(offline_bundle, decrypted_builds=True)  # without a key


def test_copies_the_bytes_of_a_key(content):
    path, text = content
    secret = bytearray(key_bytes(text))
    key = clbin.Key(content=secret)
    secret[:] = bytes(32)
    clbin.Bundle(path, key=key).close()


def test_shows_no_key(content):
    path, text = content
    secret = key_bytes(text)
    key = clbin.Key.from_text(text)
    shown = [repr(key), str(key), repr(clbin.Bundle(path, key=key))]
    line = text.splitlines()[1]
    for wrong in (line[:-4], "A" + line[1:], line + line):
        with pytest.raises(clbin.ArgumentError) as caught:
            clbin.Key.from_text(wrong)
        error = caught.value
        shown += [str(error), repr(error)]
        shown += traceback.format_exception_only(type(error), error)
    for each in shown:
        assert line[:20] not in each
        assert secret.hex()[:16] not in each
        assert repr(secret)[2:10] not in each


def test_asks_after_the_signature_holds(content, tmp_path):
    path, text = content
    subprocess.run(
        [command_path(), "--keygen", str(tmp_path / "signer"), "--no-passphrase"], check=True
    )
    trusted = [(tmp_path / "signer.pub").read_text()]
    asked = []

    def ask(request):
        asked.append(request)
        return text

    with pytest.raises(clbin.TrustError):
        clbin.Bundle(path, public_keys=trusted, key=ask)
    assert asked == []
    command = [command_path(), "--sign", "--key", str(tmp_path / "signer.key"), str(path)]
    subprocess.run(command, check=True)
    with clbin.Bundle(path, public_keys=trusted, key=ask) as bundle:
        bundle.verify()
    assert len(asked) == 1


def test_loads_and_leaves_the_user_cache_alone(cl, device, context, content, empty_cache):
    path, text = content
    for decrypted_builds in (None, False, True):
        with clbin.Bundle(path, key=text, decrypted_builds=decrypted_builds) as bundle:
            program = bundle.load(context, device, "scale")
        assert run_scale(cl, context, program) == [0.0, 2.0, 4.0, 6.0]
        is_stored = bool(list(empty_cache.glob("**/*.clbin")))
        is_pocl = device.platform.name == "Portable Computing Language"
        assert is_stored == (bool(decrypted_builds) and not is_pocl)
