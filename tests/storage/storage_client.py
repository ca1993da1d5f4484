"""Starts oclcc-storage-http and sends it requests, as oclcc does."""

import contextlib
import os
import signal
import socket
import struct
import subprocess

GET, PUT, HEAD = 1, 2, 3
DONE, ABSENT, FAILED, REFUSED = range(4)
GREETING = b"clbin-storage 1\n"


def start(program, path, environment=None, **settings):
    """Returns the finished process that started the helper."""
    lines = "".join(f"{name.replace('_', '-')}={value}\n" for name, value in settings.items())
    return subprocess.run(
        [program, path],
        input=lines,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": os.path.dirname(path), **(environment or {})},
    )


def receive_exactly(connection, count):
    data = bytearray(count)
    left = memoryview(data)
    while left:
        received = connection.recv_into(left)
        if received == 0:
            raise EOFError(f"closed before the last {len(left)} of {count} bytes")
        left = left[received:]
    return bytes(data)


class Client:
    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.connection.settimeout(60)
        self.connection.connect(str(path))
        greeting = receive_exactly(self.connection, len(GREETING))
        if greeting != GREETING:
            raise ValueError(f"unexpected greeting {greeting!r}")

    def helper_id(self):
        data = self.connection.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")
        )
        return struct.unpack("3i", data)[0]

    def send(self, operation, key, payload=b"", deadline_ms=0):
        body = struct.pack("<BBHI", operation, 0, 0, deadline_ms) + key + payload
        self.connection.sendall(struct.pack("<I", len(body)) + body)

    def receive(self):
        (length,) = struct.unpack("<I", receive_exactly(self.connection, 4))
        body = receive_exactly(self.connection, length)
        return body[0], body[1:]

    def request(self, *arguments, **named):
        self.send(*arguments, **named)
        return self.receive()

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def end_process(process_id):
    """Ends a helper that a test started."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process_id, signal.SIGKILL)
