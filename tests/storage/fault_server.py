"""An HTTP server for tests that stores entries, or answers with a fault.

with FaultServer() as server:
    server.fault = status(500)
    ... server.url ... server.requests ...
"""

import http.server
import socket
import socketserver
import ssl
import threading
import time
from dataclasses import dataclass

MEBIBYTE = 1 << 20
SLOW_PAUSE = 0.05  # seconds between two bytes of a slow answer


@dataclass
class Received:
    method: str
    path: str
    headers: dict
    body: bytes
    connection: tuple  # the client's address, equal for requests on one connection


def status(code, body=b"", headers=()):
    """A fault: answers each request with this status."""

    def answer(handler, _):
        handler.answer(code, body, headers)

    return answer


def redirect(url_of, code=302):
    """A fault: redirects to url_of(path)."""

    def answer(handler, request):
        handler.answer(code, b"", [("Location", url_of(request.path))])

    return answer


def raw(data):
    """A fault: sends these bytes and closes the connection."""

    def answer(handler, _):
        handler.wfile.write(data)
        handler.close_connection = True

    return answer


def damaged(change):
    """A fault: answers a GET of an entry with change(entry)."""

    def answer(handler, request):
        if request.method == "GET" and request.path in handler.server.entries:
            handler.answer(200, change(handler.server.entries[request.path]))
        else:
            handler.store(request)

    return answer


def truncated(handler, request):
    """A fault: announces the whole entry, sends a half of it, and closes the connection."""
    entry = handler.server.entries.get(request.path, b"x" * 100)
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(entry)}\r\n\r\n".encode()
    handler.wfile.write(head + entry[: len(entry) // 2])
    handler.close_connection = True


def slow(handler, request):
    """A fault: sends a byte from time to time, for longer than any deadline of the tests."""
    entry = handler.server.entries.get(request.path, b"x") + b"x" * 10000
    handler.wfile.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(entry)}\r\n\r\n".encode())
    for byte in entry:
        if handler.server.is_ending.wait(SLOW_PAUSE):
            break
        handler.wfile.write(bytes([byte]))
    handler.close_connection = True


def silent(handler, _):
    """A fault: accepts the request and does not answer."""
    handler.server.is_ending.wait(60)
    handler.close_connection = True


def endless(handler, _):
    """A fault: an answer without a length that never ends."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while not handler.server.is_ending.is_set():
        handler.wfile.write(b"x" * MEBIBYTE)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self, code, body, headers=()):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        if code not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def store(self, request):
        entries = self.server.entries
        if request.method == "PUT":
            code = 204 if request.path in entries else 201
            entries[request.path] = request.body
            self.answer(code, b"")
        elif request.path in entries:
            self.answer(200, entries[request.path])
        else:
            self.answer(404, b"<html>Not Found</html>")

    def serve(self):
        length = int(self.headers.get("Content-Length", 0))
        read_body = self.server.fault is None or not getattr(
            self.server.fault, "ignores_body", False
        )
        body = self.rfile.read(length) if read_body else b""
        request = Received(self.command, self.path, dict(self.headers), body, self.client_address)
        with self.server.lock:
            self.server.requests.append(request)
        fault = self.server.fault
        if fault is None:
            self.store(request)
        else:
            fault(self, request)

    do_GET = do_PUT = do_HEAD = serve

    def log_message(self, *_):
        pass


class FaultServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, certificate=None, host="127.0.0.1"):
        super().__init__((host, 0), Handler)
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
            self.scheme = "https"
        self.fault = None
        self.entries = {}
        self.requests = []
        self.lock = threading.Lock()
        self.is_ending = threading.Event()
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02})

    def handle_error(self, *_):
        pass  # clients are expected to close connections

    @property
    def port(self):
        return self.server_address[1]

    @property
    def url(self):
        address = self.server_address[0]
        host = "localhost" if address == "127.0.0.1" else address
        return f"{self.scheme}://{host}:{self.port}/cache"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_ending.set()
        self.shutdown()
        self.thread.join()
        self.server_close()


def stopped_server():
    """Returns a listening socket that accepts no connection, and its port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=0)
    return listener, listener.getsockname()[1]


def wait_until(condition, seconds=20):
    """Returns False if the condition is not true within a time that only a hang exceeds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False
