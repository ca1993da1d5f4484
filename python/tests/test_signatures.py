"""Bundles that must be signed. The keys are made by oclcc --keygen."""

import subprocess

import pytest

import clbin
from clbin._command import command_path


@pytest.fixture
def key(tmp_path):
    """A function that makes a key and returns the path of its files, without suffix."""

    def make(name):
        command = [command_path(), "--keygen", str(tmp_path / name), "--no-passphrase"]
        subprocess.run(command, check=True)
        return tmp_path / name

    return make


def test_opens_only_bundles_that_a_trusted_key_has_signed(key, offline_bundle, tmp_path):
    trusted, other = key("trusted"), key("other")
    text = trusted.with_suffix(".pub").read_text()
    line = text.splitlines()[1]
    path = tmp_path / "k.clbin"
    path.write_bytes(offline_bundle)
    with pytest.raises(clbin.TrustError) as caught:
        clbin.Bundle(path, public_keys=[line])
    assert caught.value.code == clbin.Status.NOT_SIGNED
    subprocess.run([command_path(), "--sign", "--key", f"{trusted}.key", str(path)], check=True)
    for keys in ([line], [text], (other.with_suffix(".pub").read_text(), line)):
        with clbin.Bundle(path, public_keys=keys) as bundle:
            bundle.verify()
            assert list(bundle.programs) == ["scale"]
    with pytest.raises(clbin.TrustError) as caught:
        clbin.Bundle(path, public_keys=[other.with_suffix(".pub").read_text()])
    assert caught.value.code == clbin.Status.UNTRUSTED_KEY
    with pytest.raises(clbin.TrustError) as caught:
        clbin.Bundle(path, public_keys=[line], least_counter=1)
    assert caught.value.code == clbin.Status.OLD_COUNTER


def test_tells_the_counter_that_the_next_start_requires(key, offline_bundle, tmp_path):
    signer = key("signer")
    line = signer.with_suffix(".pub").read_text()
    path = tmp_path / "k.clbin"
    path.write_bytes(offline_bundle)
    command = [command_path(), "--sign", "--key", f"{signer}.key", str(path)]
    for options, number in (([], 0), (["--counter", "18446744073709551615"], 2**64 - 1)):
        subprocess.run([*command, *options], check=True)
        with clbin.Bundle(path, public_keys=[line], least_counter=number) as bundle:
            assert bundle.counter == number
    with clbin.Bundle(path) as bundle, pytest.raises(clbin.ArgumentError):
        bundle.counter


def test_a_builder_may_require_signatures(key, offline_bundle):
    with clbin.Builder(require_signatures=True) as builder:
        with pytest.raises(clbin.TrustError) as caught:
            builder.add_bundle(clbin.Bundle(offline_bundle))
        assert caught.value.code == clbin.Status.NOT_SIGNED
    with pytest.raises(clbin.ArgumentError):
        clbin.Builder(unsigned_builds=True)


def test_rejects_keys_that_are_none(offline_bundle):
    with pytest.raises(TypeError, match="'public_keys' must be a sequence"):
        clbin.Bundle(offline_bundle, public_keys="RW")
    with pytest.raises(TypeError, match="'public_keys' must be str"):
        clbin.Bundle(offline_bundle, public_keys=[3])
    for keys in ([], ["RW"], [b"short"], ["RW\0"]):
        with pytest.raises(clbin.ArgumentError):
            clbin.Bundle(offline_bundle, public_keys=keys)
    with pytest.raises(clbin.ArgumentError):
        clbin.Bundle(offline_bundle, least_counter=1)
    with pytest.raises(clbin.TrustError):
        clbin.Bundle(offline_bundle, public_keys=[bytes(32)])
