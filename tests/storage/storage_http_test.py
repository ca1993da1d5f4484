#!/usr/bin/env python3
"""Tests oclcc-storage-http alone: storage_http_test.py PROGRAM [unittest's arguments]"""

import base64
import concurrent.futures
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import fault_server
from fault_server import MEBIBYTE, FaultServer, wait_until
from storage_client import (
    ABSENT,
    DONE,
    FAILED,
    GET,
    HEAD,
    PUT,
    REFUSED,
    Client,
    end_process,
    receive_exactly,
    start,
)

PROGRAM = None
TOKEN = "Secret-Token-4711"
KEY = bytes(range(32))
OTHER_KEY = bytes(range(1, 33))
PATH_OF_KEY = f"/cache/ac/{KEY.hex()}"
SHORT_MS = 300  # deadline of requests that are expected to reach it
HANG_MS = 60000  # deadline of requests that are not


class HelperTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="storage-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.socket_path = os.path.join(self.folder, "socket")

    def start(self, url, environment=None, path=None, **settings):
        settings = {"mode": "read-write", "timeout_ms": HANG_MS, **settings}
        path = path or self.socket_path
        started = start(PROGRAM, path, environment, url=url, **settings)
        self.assertEqual((started.stdout, started.stderr, started.returncode), ("ready\n", "", 0))
        with Client(path) as client:
            self.helper = client.helper_id()
        self.addCleanup(end_process, self.helper)

    def rejected(self, text):
        """Returns the message for settings that are not accepted."""
        ended = subprocess.run(
            [PROGRAM, self.socket_path], input=text, capture_output=True, timeout=60
        )
        self.assertEqual((ended.stderr, ended.returncode), (b"", 1))
        self.assertFalse(os.path.exists(self.socket_path))
        return ended.stdout.decode()

    def client(self):
        client = Client(self.socket_path)
        self.addCleanup(client.close)
        return client

    def server(self, **arguments):
        server = FaultServer(**arguments)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def failure(self, operation=GET, payload=b"", deadline_ms=HANG_MS):
        status, text = self.client().request(operation, KEY, payload, deadline_ms=deadline_ms)
        self.assertEqual(status, FAILED, text)
        return text.decode()


class Requests(HelperTest):
    def test_an_entry_that_was_put_is_present_and_returned(self):
        server = self.server()
        self.start(server.url)
        client = self.client()
        self.assertEqual(client.request(HEAD, KEY), (ABSENT, b""))
        self.assertEqual(client.request(GET, KEY), (ABSENT, b""))
        self.assertEqual(client.request(PUT, KEY, b"\0entry\xff"), (DONE, b""))
        self.assertEqual(client.request(PUT, KEY, b"\0entry\xff"), (DONE, b""))
        self.assertEqual(client.request(HEAD, KEY), (DONE, b""))
        self.assertEqual(client.request(GET, KEY), (DONE, b"\0entry\xff"))
        self.assertEqual(client.request(GET, OTHER_KEY), (ABSENT, b""))
        put = server.requests[2]
        self.assertEqual(
            (put.method, put.path, put.headers["Content-Length"]), ("PUT", PATH_OF_KEY, "7")
        )
        self.assertNotIn("Expect", put.headers)
        self.assertNotIn("Authorization", put.headers)

    def test_requests_of_several_clients_share_one_connection_to_the_server(self):
        server = self.server()
        self.start(server.url)
        for _ in range(3):
            with Client(self.socket_path) as client:
                client.request(PUT, KEY, b"entry")
                client.request(GET, KEY)
                client.request(GET, OTHER_KEY)
        self.assertEqual(len(server.requests), 9)
        self.assertEqual(len({request.connection for request in server.requests}), 1)

    def test_an_empty_entry_and_one_of_64_mebibytes_are_stored(self):
        self.start(self.server().url)
        client = self.client()
        for payload in (b"", random.randbytes(64 * MEBIBYTE)):
            self.assertEqual(client.request(PUT, KEY, payload), (DONE, b""))
            self.assertEqual(client.request(GET, KEY), (DONE, payload))

    def test_64_requests_are_in_progress_at_once(self):
        server = self.server()
        waiting = []

        def answer_when_all_wait(handler, request):
            waiting.append(request)
            wait_until(lambda: len(waiting) >= 64)
            handler.answer(200, request.path.encode())

        server.fault = answer_when_all_wait
        self.start(server.url)

        def get(number):
            key = bytes([number]) * 32
            with Client(self.socket_path) as client:
                return client.request(GET, key) == (DONE, f"/cache/ac/{key.hex()}".encode())

        with concurrent.futures.ThreadPoolExecutor(96) as pool:
            self.assertTrue(all(pool.map(get, range(96))))

    def test_idle_connections_do_not_block_further_clients(self):
        self.start(self.server().url)
        idle = [self.client() for _ in range(100)]
        self.assertEqual(self.client().request(GET, KEY), (ABSENT, b""))
        self.assertEqual(idle[0].request(GET, KEY), (ABSENT, b""))

    def test_read_only_mode_sends_no_put(self):
        server = self.server()
        self.start(server.url, mode="read-only")
        client = self.client()
        self.assertEqual(client.request(PUT, KEY, b"entry"), (REFUSED, b""))
        self.assertEqual(client.request(GET, KEY), (ABSENT, b""))
        self.assertEqual([request.method for request in server.requests], ["GET"])


class Answers(HelperTest):
    def test_other_statuses_fail_with_their_number(self):
        server = self.server()
        self.start(server.url)
        url = f"{server.url}/ac/{KEY.hex()}"
        for code in (201, 204, 206, 304, 400, 401, 403, 410, 500, 503, 507):
            server.fault = fault_server.status(code)
            self.assertEqual(self.failure(), f"GET {url}: the server answered {code}")
            self.assertEqual(self.failure(HEAD), f"HEAD {url}: the server answered {code}")
        for code in (206, 302, 400, 401, 403, 404, 409, 413, 500, 507):
            server.fault = fault_server.status(code)
            self.assertEqual(self.failure(PUT, b"x"), f"PUT {url}: the server answered {code}")
        for code in (200, 201, 204):
            server.fault = fault_server.status(code)
            self.assertEqual(self.client().request(PUT, KEY, b"x"), (DONE, b""))

    def test_a_server_that_answers_before_it_reads_the_entry_fails_the_put(self):
        server = self.server()

        def full(handler, _):
            handler.answer(507, b"full", [("Connection", "close")])

        full.ignores_body = True
        server.fault = full
        self.start(server.url)
        self.assertIn(
            f"PUT {server.url}/ac/{KEY.hex()}: ", self.failure(PUT, b"x" * (8 * MEBIBYTE))
        )

    def test_a_truncated_answer_fails(self):
        server = self.server()
        server.fault = fault_server.truncated
        self.start(server.url)
        self.assertIn(": the answer is shorter than announced", self.failure())

    def test_bytes_beyond_the_announced_length_are_not_returned(self):
        server = self.server()
        server.fault = fault_server.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcdefgh")
        self.start(server.url)
        self.assertEqual(self.client().request(GET, KEY), (DONE, b"abcd"))
        self.assertEqual(self.client().request(GET, KEY), (DONE, b"abcd"))

    def test_an_answer_beyond_64_mebibytes_fails(self):
        server = self.server()
        self.start(server.url)
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {64 * MEBIBYTE + 1}\r\n\r\n".encode()
        for fault in (fault_server.raw(head), fault_server.endless):
            server.fault = fault
            self.assertIn(": the answer is longer than 64 MiB", self.failure())

    def test_an_endless_error_page_fails(self):
        server = self.server()
        server.fault = fault_server.status(404, b"x" * (2 * MEBIBYTE))
        self.start(server.url)
        self.assertIn(": the server answered 404 with more than 1 MiB", self.failure())

    def test_garbage_fails(self):
        server = self.server()
        self.start(server.url)
        for data in (
            b"\xff\xfe garbage \0" * 50,
            b"220 mail ESMTP\r\n",
            b"HTTP/1.1 abc\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ):
            server.fault = fault_server.raw(data)
            self.failure()
        server.fault = fault_server.raw(b"")
        self.assertIn(": the server closed the connection without an answer", self.failure())
        server.fault = None
        self.assertEqual(self.client().request(GET, KEY), (ABSENT, b""))

    def test_a_missing_server_fails(self):
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]
        self.start(f"http://127.0.0.1:{port}")
        self.assertEqual(
            self.failure(),
            f"GET http://127.0.0.1:{port}/ac/{KEY.hex()}: "
            "cannot connect to the server: Connection refused",
        )
        self.start("http://name.invalid/", path=self.socket_path + "2")
        with Client(self.socket_path + "2") as client:
            status, text = client.request(GET, KEY)
        self.assertEqual(status, FAILED)
        self.assertIn(b"GET http://name.invalid/ac/", text)

    def test_silent_and_slow_servers_fail_at_the_deadline(self):
        server = self.server()
        self.start(server.url)
        for fault in (fault_server.silent, fault_server.slow):
            server.fault = fault
            self.assertIn(
                f": no complete answer within {SHORT_MS} ms", self.failure(deadline_ms=SHORT_MS)
            )

    def test_requests_without_a_deadline_use_the_setting(self):
        server = self.server()
        server.fault = fault_server.silent
        self.start(server.url, timeout_ms=SHORT_MS)
        self.assertIn(f": no complete answer within {SHORT_MS} ms", self.failure(deadline_ms=0))

    def test_a_server_that_accepts_no_connection_fails_at_the_deadline(self):
        listener, port = fault_server.stopped_server()
        self.addCleanup(listener.close)
        filling = [socket.socket() for _ in range(3)]
        for connection in filling:  # the queue of connections is full
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", port))
            self.addCleanup(connection.close)
        self.start(f"http://127.0.0.1:{port}")
        self.assertIn(
            f": no complete answer within {SHORT_MS} ms", self.failure(deadline_ms=SHORT_MS)
        )

    def test_a_connection_that_the_server_closed_meanwhile_is_replaced(self):
        server = self.server()

        def close_after(handler, request):
            handler.store(request)
            handler.close_connection = True

        server.fault = close_after
        self.start(server.url)
        client = self.client()
        for payload in (b"first", b"second"):
            self.assertEqual(client.request(PUT, KEY, payload), (DONE, b""))
            self.assertEqual(client.request(GET, KEY), (DONE, payload))


class Redirects(HelperTest):
    def setUp(self):
        super().setUp()
        self.first, self.second = self.server(), self.server()

    def start_with(self, kind):
        if kind == "token":
            self.start(self.first.url, token=TOKEN)
            return f"Bearer {TOKEN}"
        netrc = Path(self.folder, "netrc")
        netrc.write_text(
            f"machine localhost login user password {TOKEN}\n"
            f"machine 127.0.0.1 login user password {TOKEN}\n"
        )
        self.start(self.first.url, netrc=netrc)
        return "Basic " + base64.b64encode(f"user:{TOKEN}".encode()).decode()

    def authorizations(self, server):
        return [request.headers.get("Authorization") for request in server.requests]

    def check_other_address(self, kind, url_of):
        self.first.fault = fault_server.redirect(url_of)
        self.second.entries["/elsewhere" + PATH_OF_KEY] = b"entry"
        sent = self.start_with(kind)
        self.assertEqual(self.client().request(GET, KEY), (DONE, b"entry"))
        self.assertEqual(self.client().request(HEAD, KEY), (DONE, b""))
        self.assertEqual(self.authorizations(self.first), [sent, sent])
        self.assertEqual(self.authorizations(self.second), [None, None])

    def test_the_token_is_not_sent_to_another_port(self):
        self.check_other_address(
            "token", lambda path: f"http://localhost:{self.second.port}/elsewhere{path}"
        )

    def test_the_token_is_not_sent_to_another_host(self):
        self.check_other_address(
            "token", lambda path: f"http://127.0.0.1:{self.second.port}/elsewhere{path}"
        )

    def test_passwords_of_netrc_are_not_sent_to_another_port(self):
        self.check_other_address(
            "netrc", lambda path: f"http://localhost:{self.second.port}/elsewhere{path}"
        )

    def test_passwords_of_netrc_are_not_sent_to_another_host(self):
        self.check_other_address(
            "netrc", lambda path: f"http://127.0.0.1:{self.second.port}/elsewhere{path}"
        )

    def test_the_token_is_sent_to_another_path_of_the_same_server(self):
        self.first.entries["/moved"] = b"entry"

        def move(handler, request):
            if request.path == "/moved":
                handler.store(request)
            else:
                handler.answer(301, b"", [("Location", "/moved")])

        self.first.fault = move
        sent = self.start_with("token")
        self.assertEqual(self.client().request(GET, KEY), (DONE, b"entry"))
        self.assertEqual(self.authorizations(self.first), [sent, sent])

    def test_the_token_is_not_sent_after_a_redirect_away_and_back(self):
        self.first.entries["/back"] = b"entry"

        def send_away(handler, request):
            if request.path == "/back":
                handler.store(request)
            else:
                handler.answer(302, b"", [("Location", f"http://localhost:{self.second.port}/")])

        self.first.fault = send_away
        self.second.fault = fault_server.redirect(
            lambda _: f"http://localhost:{self.first.port}/back"
        )
        sent = self.start_with("token")
        self.assertEqual(self.client().request(GET, KEY), (DONE, b"entry"))
        self.assertEqual(self.authorizations(self.first), [sent, None])

    def test_a_redirected_request_sends_its_token_again_next_time(self):
        self.check_other_address(
            "token", lambda path: f"http://localhost:{self.second.port}/elsewhere{path}"
        )
        self.first.fault = None
        self.assertEqual(self.client().request(GET, KEY), (ABSENT, b""))
        self.assertEqual(self.authorizations(self.first)[-1], f"Bearer {TOKEN}")

    def test_a_put_is_not_redirected(self):
        self.first.fault = fault_server.redirect(
            lambda path: f"http://localhost:{self.second.port}{path}", 307
        )
        self.start_with("token")
        self.assertIn(": the server answered 307", self.failure(PUT, b"entry"))
        self.assertEqual(self.second.requests, [])

    def test_endless_redirects_fail(self):
        self.first.fault = fault_server.redirect(lambda path: path)
        self.start_with("token")
        self.assertIn(": more than 5 redirects", self.failure())
        self.assertEqual(len(self.first.requests), 6)

    def test_redirects_to_other_schemes_and_with_passwords_fail(self):
        self.start_with("token")
        for url in (
            "file:///etc/passwd",
            "ftp://localhost/x",
            "gopher://localhost/x",
            f"http://user:{TOKEN}@localhost:{self.second.port}/",
        ):
            self.first.fault = fault_server.redirect(lambda _, target=url: target)
            text = self.failure()
            self.assertIn(": the server redirects to an address that is not followed", text)
            self.assertNotIn(TOKEN, text)
        self.assertEqual(self.second.requests, [])


class Https(HelperTest):
    def setUp(self):
        super().setUp()
        self.certificate = os.path.join(self.folder, "certificate.pem")
        subprocess.run(
            [
                *"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes".split(),
                *"-days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost".split(),
                *["-keyout", self.certificate + ".key", "-out", self.certificate],
            ],
            check=True,
            capture_output=True,
        )
        both = Path(self.certificate).read_bytes() + Path(self.certificate + ".key").read_bytes()
        Path(self.folder, "server.pem").write_bytes(both)
        self.secure = self.server(certificate=os.path.join(self.folder, "server.pem"))

    def test_a_certificate_of_ssl_cert_file_is_accepted(self):
        self.start(self.secure.url, {"SSL_CERT_FILE": self.certificate}, token=TOKEN)
        self.assertEqual(self.client().request(PUT, KEY, b"entry"), (DONE, b""))
        self.assertEqual(self.client().request(GET, KEY), (DONE, b"entry"))
        self.assertEqual(self.secure.requests[0].headers["Authorization"], f"Bearer {TOKEN}")

    def test_an_unknown_certificate_is_refused_before_the_token_is_sent(self):
        self.start(self.secure.url, token=TOKEN)
        self.assertIn("certificate", self.failure())
        self.assertEqual(self.secure.requests, [])

    def test_a_certificate_of_another_host_is_refused(self):
        url = self.secure.url.replace("localhost", "127.0.0.1")
        self.start(url, {"SSL_CERT_FILE": self.certificate}, token=TOKEN)
        self.failure()
        self.assertEqual(self.secure.requests, [])

    def test_the_token_is_not_sent_after_a_redirect_to_http(self):
        plain = self.server()
        plain.entries[PATH_OF_KEY] = b"entry"
        self.secure.fault = fault_server.redirect(
            lambda path: f"http://localhost:{plain.port}{path}"
        )
        self.start(self.secure.url, {"SSL_CERT_FILE": self.certificate}, token=TOKEN)
        self.assertEqual(self.client().request(GET, KEY), (DONE, b"entry"))
        self.assertNotIn("Authorization", plain.requests[0].headers)


class Credentials(HelperTest):
    def test_the_netrc_file_of_the_home_folder_is_used(self):
        server = self.server()
        Path(self.folder, ".netrc").write_text("machine localhost login user password word\n")
        self.start(server.url)
        self.assertEqual(self.client().request(GET, KEY), (ABSENT, b""))
        self.assertEqual(
            server.requests[0].headers["Authorization"],
            "Basic " + base64.b64encode(b"user:word").decode(),
        )

    def test_a_token_replaces_netrc(self):
        server = self.server()
        Path(self.folder, ".netrc").write_text("machine localhost login user password word\n")
        self.start(server.url, token=TOKEN)
        self.client().request(GET, KEY)
        self.assertEqual(server.requests[0].headers["Authorization"], f"Bearer {TOKEN}")

    def test_http_proxy_names_a_proxy(self):
        proxy = self.server()
        self.start("http://storage.invalid/cache", {"http_proxy": f"http://localhost:{proxy.port}"})
        self.assertEqual(self.client().request(GET, KEY), (ABSENT, b""))
        self.assertEqual(proxy.requests[0].path, f"http://storage.invalid{PATH_OF_KEY}")

    def test_the_token_is_in_no_process_list_and_no_message(self):
        server = self.server()
        server.fault = fault_server.status(
            401, TOKEN.encode(), [("WWW-Authenticate", f"Bearer {TOKEN}")]
        )
        self.start(server.url, token=TOKEN)
        self.assertNotIn(TOKEN, self.failure())
        for name in ("cmdline", "environ", "comm"):
            try:
                content = Path(f"/proc/{self.helper}/{name}").read_bytes()
            except PermissionError:
                continue
            self.assertNotIn(TOKEN.encode(), content)
        limits = Path(f"/proc/{self.helper}/limits").read_text()
        self.assertRegex(limits, r"Max core file size +0 +0 ")


class Settings(HelperTest):
    def test_wrong_settings_are_rejected(self):
        good = "url=http://localhost\nmode=read-write\n"
        for text, message in [
            ("", "the settings have no 'url'"),
            ("url=http://localhost\n", "'mode' must be 'read-write' or 'read-only'"),
            ("url=http://localhost\nmode=write\n", "'mode' must be 'read-write' or 'read-only'"),
            (
                "url=ftp://localhost/\nmode=read-only\n",
                "the URL of the storage must begin with 'http://' or 'https://'",
            ),
            ("url=http://\nmode=read-only\n", "the URL of the storage is not valid"),
            (
                f"url=http://u:{TOKEN}@h/\nmode=read-only\n",
                "the URL of the storage contains a user name or a password",
            ),
            (
                f"url=http://h/?t={TOKEN}\nmode=read-only\n",
                "the URL of the storage contains a query",
            ),
            (good + "timeout-ms=0\n", "'timeout-ms' must be a number from 1 to 86400000"),
            (good + "timeout-ms=1x\n", "'timeout-ms' must be a number from 1 to 86400000"),
            (
                good + "idle-s=99999999999999999999\n",
                "'idle-s' must be a number from 1 to 86400000",
            ),
            (good + "mode=read-only\n", "the settings contain 'mode' twice"),
            (good + f"{TOKEN}\n", "a line of the settings has no '='"),
            (good + "colour=red\n", "a line of the settings has an unknown name"),
            (
                good + f"token={TOKEN} x\n",
                "the token contains a space, a control character, or a byte that is not ASCII",
            ),
            (
                good + "netrc=/nowhere/netrc\n",
                "cannot open '/nowhere/netrc': No such file or directory",
            ),
        ]:
            with self.subTest(text=text):
                self.assertEqual(self.rejected(text.encode()), message + "\n")

    def test_a_folder_that_others_can_use_is_rejected(self):
        os.chmod(self.folder, 0o750)
        self.assertEqual(
            self.rejected(b"url=http://localhost\nmode=read-only\n"),
            f"'{self.folder}' is not a directory that only this user can use\n",
        )

    def test_a_path_that_is_too_long_is_rejected(self):
        self.socket_path = os.path.join(self.folder, "s" * 100)
        self.assertIn(
            "the socket's path has ", self.rejected(b"url=http://localhost\nmode=read-only\n")
        )

    def test_the_command_line_is_explained(self):
        helped = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, timeout=60)
        self.assertEqual((helped.returncode, helped.stderr), (0, ""))
        wrong = subprocess.run([PROGRAM], capture_output=True, text=True, timeout=60)
        self.assertEqual((wrong.returncode, wrong.stdout, wrong.stderr), (2, "", helped.stdout))
        version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, timeout=60)
        self.assertRegex(version.stdout, r"^oclcc-storage-http \d+\.\d+\.\d+\n$")


class Life(HelperTest):
    def test_the_helper_detaches_from_its_starter(self):
        self.start(self.server().url)
        self.assertEqual(os.getsid(self.helper), self.helper)
        self.assertEqual(os.getpgid(self.helper), self.helper)
        if os.geteuid() == 0:  # the process allows only root to look
            self.assertEqual(os.readlink(f"/proc/{self.helper}/cwd"), "/")
            for stream in range(3):
                self.assertEqual(os.readlink(f"/proc/{self.helper}/fd/{stream}"), "/dev/null")
        self.assertEqual(os.stat(self.socket_path).st_mode & 0o777, 0o700)

    def test_files_and_blocked_signals_of_the_starter_are_not_inherited(self):
        server = self.server()
        readable, writable = os.pipe()
        os.set_inheritable(writable, True)

        def block_signals():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

        lines = f"url={server.url}\nmode=read-only\n"
        subprocess.run(
            [PROGRAM, self.socket_path],
            input=lines,
            text=True,
            check=True,
            timeout=60,
            stdout=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=block_signals,
        )
        os.close(writable)
        self.assertEqual(os.read(readable, 1), b"")  # blocks if the helper has the other end
        os.close(readable)
        with Client(self.socket_path) as client:
            self.helper = client.helper_id()
        os.kill(self.helper, signal.SIGTERM)
        self.assertTrue(wait_until(lambda: self.is_gone()))

    def is_gone(self):
        try:
            state = Path(f"/proc/{self.helper}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        return state == "Z"  # nobody waits for it in some containers

    def test_many_starts_at_once_leave_one_helper(self):
        server = self.server()

        def start_one(_):
            started = start(PROGRAM, self.socket_path, url=server.url, mode="read-only")
            with Client(self.socket_path) as client:
                return started.stdout, started.returncode, client.helper_id()

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            results = set(pool.map(start_one, range(16)))
        self.assertEqual(len(results), 1)
        self.helper = results.pop()[2]
        self.addCleanup(end_process, self.helper)
        self.assertEqual(sorted(os.listdir(self.folder)), ["socket", "socket.lock"])

    def test_a_killed_helper_is_replaced(self):
        server = self.server()
        self.start(server.url)
        first = self.helper
        os.kill(first, signal.SIGKILL)
        self.assertTrue(wait_until(self.is_gone))
        self.start(server.url)
        self.assertNotEqual(first, self.helper)
        self.assertEqual(self.client().request(GET, KEY), (ABSENT, b""))

    def test_the_helper_ends_after_its_idle_time_and_leaves_no_file(self):
        self.start(self.server().url, idle_s=2)
        client = self.client()
        self.assertEqual(client.request(GET, KEY), (ABSENT, b""))
        self.assertTrue(wait_until(self.is_gone))
        self.assertEqual(os.listdir(self.folder), [])
        with self.assertRaises((EOFError, ConnectionResetError)):
            receive_exactly(client.connection, 1)

    def test_a_request_in_progress_is_not_idle(self):
        server = self.server()

        def answer_late(handler, _):
            server.is_ending.wait(2.6)
            handler.answer(200, b"late")

        server.fault = answer_late
        self.start(server.url, idle_s=2)
        self.assertEqual(self.client().request(GET, KEY), (DONE, b"late"))

    def test_a_helper_whose_socket_was_removed_ends(self):
        self.start(self.server().url)
        os.unlink(self.socket_path)
        self.assertTrue(wait_until(self.is_gone, 60))
        self.assertEqual(os.listdir(self.folder), [])


class Clients(HelperTest):
    def check_alive(self):
        self.assertEqual(self.client().request(GET, KEY), (ABSENT, b""))
        with Client(self.socket_path) as client:
            self.assertEqual(client.helper_id(), self.helper)

    def is_closed(self, data):
        with Client(self.socket_path) as client:
            client.connection.sendall(data)
            try:
                return client.connection.recv(1) == b""
            except ConnectionResetError:
                return True

    def test_malformed_frames_close_their_connection_only(self):
        self.start(self.server().url)
        key_and_deadline = struct.pack("<I", 0) + KEY
        for name, body in {
            "too short": b"\1\0\0\0" + key_and_deadline[:-1],
            "operation 0": b"\0\0\0\0" + key_and_deadline,
            "operation 4": b"\4\0\0\0" + key_and_deadline,
            "reserved byte": b"\1\1\0\0" + key_and_deadline,
            "reserved word": b"\1\0\0\1" + key_and_deadline,
            "GET with payload": b"\1\0\0\0" + key_and_deadline + b"x",
            "HEAD with payload": b"\3\0\0\0" + key_and_deadline + b"x",
            "empty": b"",
        }.items():
            with self.subTest(name):
                self.assertTrue(self.is_closed(struct.pack("<I", len(body)) + body))
        self.assertTrue(self.is_closed(struct.pack("<I", 64 * MEBIBYTE + 65)))
        self.assertTrue(self.is_closed(b"\xff" * 100))
        self.check_alive()

    def test_random_bytes_close_their_connection_only(self):
        server = self.server()
        self.start(server.url)
        generator = random.Random(18)
        for _ in range(300):
            frame = bytearray(struct.pack("<IBBHI", 40, GET, 0, 0, 0) + KEY)
            for _ in range(generator.randint(1, 4)):
                frame[generator.randrange(len(frame))] = generator.randrange(256)
            with Client(self.socket_path) as client:
                client.connection.sendall(
                    bytes(frame) + generator.randbytes(generator.randint(0, 100))
                )
                client.connection.shutdown(socket.SHUT_WR)
                try:
                    while client.connection.recv(4096):
                        pass
                except ConnectionResetError:
                    pass
        server.entries.clear()
        self.check_alive()

    def test_clients_that_leave_in_the_middle_cost_their_connection_only(self):
        server = self.server()
        self.start(server.url)
        frame = struct.pack("<IBBHI", 40 + 100, PUT, 0, 0, 0) + KEY + b"x" * 100
        for length in (1, 4, 5, 40, 100, len(frame) - 1):
            with Client(self.socket_path) as client:
                client.connection.sendall(frame[:length])
        server.entries[PATH_OF_KEY] = b"x" * (16 * MEBIBYTE)
        for _ in range(5):
            with Client(self.socket_path) as client:
                client.send(GET, KEY)  # and does not read the reply
        server.entries.clear()
        self.check_alive()
        self.assertNotIn("PUT", [request.method for request in server.requests])

    def test_a_put_of_a_client_that_ended_is_finished(self):
        server = self.server()
        self.start(server.url)
        with Client(self.socket_path) as client:
            client.send(PUT, KEY, b"entry")
        self.assertTrue(wait_until(lambda: server.entries.get(PATH_OF_KEY) == b"entry"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_other_users_are_refused(self):
        self.start(self.server().url)
        os.chmod(self.folder, 0o755)
        os.chmod(self.socket_path, 0o777)
        child = os.fork()
        if child == 0:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            try:
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.connect(self.socket_path)
                    os._exit(0 if connection.recv(1) == b"" else 1)
            except OSError:
                os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(self.client().request(GET, KEY), (ABSENT, b""))


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
