"""Two machines that share no file, and an nginx server that both reach.

If the system permits it, each machine is a network namespace of its own, and the servers are in a
third one. Otherwise, the machines only have separate directories.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

MARK = "STORAGE_TEST_NAMESPACE"  # set within the namespace of the servers
SERVER_ADDRESS = "10.77.0.1"


def enter_namespace():
    """Restarts this program in a network namespace if that is permitted."""
    if MARK in os.environ:
        return
    for unshare in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        probe = [*unshare, "ip", "link", "add", "probe0", "type", "veth", "peer", "name", "probe1"]
        if (
            shutil.which("unshare")
            and shutil.which("ip")
            and subprocess.run(probe, capture_output=True, check=False).returncode == 0
        ):
            command = [*unshare, sys.executable, *sys.argv]
            os.execvpe(command[0], command, {**os.environ, MARK: "1"})
    print("network namespaces are not permitted: both machines use the interface lo", flush=True)


class Machine:
    """Has its own home, caches, run-time directory and sources, and its own network if possible."""

    def __init__(self, folder, number, sources, oclcc, platforms):
        self.folder = Path(folder)
        self.oclcc = oclcc
        self.holder = None
        self.server_address = "127.0.0.1"
        self.sources = self.folder.joinpath(*["work"] * number, "kernels")  # different depths
        for name in ("home", "run", "tmp"):
            (self.folder / name).mkdir(parents=True)
        os.chmod(self.folder / "run", 0o700)
        shutil.copytree(sources, self.sources)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "XDG_RUNTIME_DIR": str(self.folder / "run"),
            "TMPDIR": str(self.folder / "tmp"),
            "CLBIN_CACHE_DIR": str(self.folder / "cache"),
            "OCL_ICD_VENDORS": platforms,
        }
        if MARK in os.environ:
            self.server_address = SERVER_ADDRESS
            self.connect(number)

    def connect(self, number):
        """Creates a network namespace and a cable to that of the servers."""
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "1000"])
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.holder.pid}/ns/net") == own:
            time.sleep(0.005)
        cable = f"cable{number}"
        for command in (
            f"ip link add {cable} type veth peer name eth0 netns {self.holder.pid}",
            f"ip addr add 10.77.{number}.1/30 dev {cable}",
            f"ip link set {cable} up",
        ):
            subprocess.run(command.split(), check=True)
        for command in (
            f"ip addr add 10.77.{number}.2/30 dev eth0",
            "ip link set lo up",
            "ip link set eth0 up",
            f"ip route add default via 10.77.{number}.1",
        ):
            subprocess.run([*self.enter(), *command.split()], check=True)

    def enter(self):
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net"] if self.holder else []

    def run(self, *words, **environment):
        """Runs oclcc in the directory of the sources."""
        return subprocess.run(
            [*self.enter(), self.oclcc, *words],
            cwd=self.sources,
            check=False,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )

    def quickest_device(self):
        """Oclgrind, which compiles in the least time, or else the first device."""
        listed = json.loads(self.run("--list-devices", "--json").stdout)["devices"]
        names = [device["device_name"] for device in listed]
        return next((name for name in names if "Oclgrind" in name), names[0])

    def compile(self, words, **environment):
        """Compiles without the local cache's entries. Returns the finished process, the bytes of the
        bundle, and the seconds that it took."""
        self.empty_cache()
        output = self.folder / "out.clbin"
        output.unlink(missing_ok=True)
        begin = time.monotonic()
        ended = self.run(*words, "-v", "-o", str(output), **environment)
        seconds = time.monotonic() - begin
        return ended, output.read_bytes() if output.exists() else None, seconds

    def empty_cache(self, suffixes=(".clbin", ".recipe", ".bundle")):
        """Removes the results, and keeps the digests of compilers, which take a second to compute."""
        for file in (self.folder / "cache").rglob("*"):
            if file.suffix in suffixes:
                file.unlink()

    def helpers(self):
        """Returns the helper processes of this machine."""
        found = []
        for process in Path("/proc").iterdir():
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except (NotADirectoryError, FileNotFoundError, ProcessLookupError):
                continue
            if len(words) > 1 and words[1].startswith(bytes(self.folder)):
                found.append(int(process.name))
        return found

    def end(self):
        for helper in self.helpers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(helper, signal.SIGKILL)
        if self.holder:
            self.holder.kill()
            self.holder.wait()


def prepare_servers():
    """Gives the namespace of the servers its address. Returns the address to listen at."""
    if MARK not in os.environ:
        return "127.0.0.1"
    for command in ("ip link set lo up", f"ip addr add {SERVER_ADDRESS}/32 dev lo"):
        subprocess.run(command.split(), check=True)
    return SERVER_ADDRESS


def free_port(address):
    with socket.create_server((address, 0)) as listener:
        return listener.getsockname()[1]


def manual_location():
    """Returns the lines of the location of nginx that oclcc-cluster(7) describes."""
    page = Path(__file__).resolve().parents[2] / "man" / "oclcc-cluster.7"
    lines = page.read_text().splitlines()
    begin = lines.index("location /cache/ {")
    return lines[begin : lines.index("}", begin) + 1]


class Nginx:
    """Debian's nginx in one process, with the location of oclcc-cluster(7), which stores entries in
    `entries`. If there is a token, it is required."""

    def __init__(self, folder, address, token=None):
        self.folder = Path(folder)
        self.address = address
        self.port = free_port(address)
        self.entries = self.folder / "root" / "cache" / "ac"
        (self.folder / "root").mkdir(parents=True)
        self.configuration = self.folder / "nginx.conf"
        self.configuration.write_text(f"""
user root root;
daemon off;
master_process off;
pid {self.folder}/pid;
error_log {self.folder}/error.log;
events {{}}
http {{
  access_log {self.folder}/access.log;
  {
            "".join(
                f"{kind}_temp_path {self.folder}/{kind};"
                for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            )
        }
  server {{
    listen {address}:{self.port};
    {self.location(token)}
  }}
}}
""")
        self.process = None

    def location(self, token):
        """Returns the location of the manual page, with the token and the directory of this test."""
        lines = [line for line in manual_location() if token or "401" not in line]
        text = "\n".join(lines).replace("/srv/oclcc", f"{self.folder}/root")
        return text.replace("TOKEN", token) if token else text

    @property
    def url(self):
        return f"http://{self.address}:{self.port}/cache"

    def start(self):
        self.process = subprocess.Popen(
            ["nginx", "-c", self.configuration, "-e", self.folder / "error.log"],
            stderr=subprocess.DEVNULL,
        )
        while self.process.poll() is None:
            try:
                socket.create_connection((self.address, self.port), timeout=10).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.01)
        raise RuntimeError((self.folder / "error.log").read_text())

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def requests(self):
        """Returns the method and status of each request."""
        found = []
        for line in (self.folder / "access.log").read_text().splitlines():
            request, answer = line.split('"')[1:3]
            found.append((request.split()[0], int(answer.split()[0])))
        return found


def watch_process_list(secret):
    """Returns a function that ends the watch, and returns the processes whose words contained
    `secret`."""
    found, is_ending = set(), threading.Event()

    def watch():
        while not is_ending.wait(0.002):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    words = (process / "cmdline").read_bytes()
                except OSError:
                    continue
                if secret.encode() in words:
                    found.add(words)

    thread = threading.Thread(target=watch)
    thread.start()

    def end():
        is_ending.set()
        thread.join()
        return found

    return end
