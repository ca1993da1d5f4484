"""Checks pages of oclcc --report --html.

    page.py parse PAGE                   prints what an HTML parser finds
    page.py documents PAGE               writes the documents in it to files, as the modes print them
    page.py browse PAGE…                 opens pages in Chromium, and checks what it shows
    page.py time PAGE                    prints when the page is drawn
    page.py shoot PAGE PNG WIDTH HEIGHT SCHEME [SECTION…]
                                         takes a picture, light or dark, without these sections

Chromium is driven through its debugging pipe, so that nothing but Python and Chromium is needed.
"""

import base64
import collections
import contextlib
import fcntl
import hashlib
import html.parser
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

ANSWER_SECONDS = 120  # against a hang
SKIPPED = 77


class PageParser(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.elements = collections.Counter()
        self.scripts = {}
        self.policy = ""
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements[tag] += 1
        attributes = dict(attrs)
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if tag == "script":
            self.inside = attributes.get("id", "program")
            self.scripts[self.inside] = ""

    def handle_data(self, data):
        if self.inside:
            self.scripts[self.inside] += data

    def handle_endtag(self, tag):
        if tag == "script":
            self.inside = None


def parse(page):
    parser = PageParser(Path(page).read_text(encoding="utf-8"))
    digest = base64.b64encode(
        hashlib.sha256(parser.scripts.pop("program").encode()).digest()
    ).decode()
    if f"script-src 'sha256-{digest}'" not in parser.policy:
        print(f"the digest of the script in oclcc/modes/report.html is sha256-{digest}")
    documents = {name: json.loads(text) for name, text in parser.scripts.items()}
    return parser, documents


class Chromium:
    """One page of a headless Chromium, and what went wrong in it."""

    def __init__(self, program, folder):
        ours, theirs = os.pipe()
        theirs_out, ours_out = os.pipe()
        # Numbers that the redirections of 3 and 4 do not replace.
        inherited = [fcntl.fcntl(pipe, fcntl.F_DUPFD, 20) for pipe in (theirs_out, theirs)]
        words = [
            program,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--no-first-run",
            f"--user-data-dir={folder}",
            "--remote-debugging-pipe",
            "about:blank",
        ]
        redirect = f'exec "$@" 3<&{inherited[0]} 4>&{inherited[1]}'
        with open(Path(folder) / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", redirect, "bash", *words],
                pass_fds=inherited,
                stdout=log,
                stderr=log,
                env={**os.environ, "HOME": folder},
            )
        for pipe in (theirs, theirs_out, *inherited):
            os.close(pipe)
        self.reader = os.fdopen(ours, "rb", buffering=0)
        self.writer = os.fdopen(ours_out, "wb", buffering=0)
        self.number = 0
        self.session = None
        self.events = []
        self.rest = b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.rest:
            part = self.reader.read(1 << 20)
            if not part:
                sys.exit("Chromium ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.writer.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.read())

    def evaluate(self, text):
        answer = self.call(
            "Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            sys.exit(f"{text}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def open(self, page, width=1280, height=900, scheme="light"):
        self.events = []
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self.call("Page.navigate", url=Path(page).resolve().as_uri())
        self.wait_for("Page.loadEventFired")

    def press_tab(self):
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9
            )

    def screenshot(self):
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def complaints(self):
        """What the console or a dialog shows."""
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(
                    parameters["exceptionDetails"]
                    .get("exception", {})
                    .get("description", "exception")
                )
            elif event.get("method") == "Runtime.consoleAPICalled":
                found.append(f"console: {parameters['type']} {parameters['args']}")
            elif event.get("method") == "Log.entryAdded":
                found.append(f"{parameters['entry']['level']}: {parameters['entry']['text']}")
            elif event.get("method") == "Page.javascriptDialogOpening":
                found.append(f"dialog: {parameters['message']}")
        return found

    def close(self):
        self.call("Browser.close")
        self.process.wait(timeout=ANSWER_SECONDS)


@contextlib.contextmanager
def chromium():
    program = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if not program:
        print("there is no Chromium")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Chromium(program, folder)
        try:
            yield browser
            browser.close()
        finally:
            browser.process.kill()


def different_rows(png):
    """How many different rows of pixels a picture has: 1, if it is blank."""
    width = int.from_bytes(png[16:20], "big")
    at, data = 8, b""
    while at < len(png):
        size = int.from_bytes(png[at : at + 4], "big")
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + size]
        at += 12 + size
    pixels = zlib.decompress(data)
    stride = 1 + width * (4 if png[25] == 6 else 3)
    return len({pixels[start : start + stride] for start in range(0, len(pixels), stride)})


# Sections hide what is too wide for them.
WIDTH = """Math.max(document.documentElement.scrollWidth, ...[...document.querySelectorAll("section")].map(
  (section) => section.getBoundingClientRect().left + section.scrollWidth))"""
# The texts whose contrast with the background is below 4.5 (WCAG 2.1).
CONTRAST = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const parts = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92
    : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const low = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const place = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || place.closest("script, noscript") || !place.checkVisibility()) continue;
    let back = place;
    while (back && parts(getComputedStyle(back).backgroundColor)[3] === 0) back = back.parentElement;
    const style = getComputedStyle(place);
    const pair = [light(parts(style.color)), light(parts(getComputedStyle(back ?? document.body).backgroundColor))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < 4.5) low.add(`${place.tagName} ${place.className} ${ratio.toFixed(2)}`);
  }
  return [...low];
})()"""
# What would mean that a name became a part of the page, and what a reader without a mouse needs.
STRUCTURE = """(() => {
  const levels = [...document.querySelectorAll("h1, h2, h3, h4")].map((head) => Number(head.tagName[1]));
  return {
    foreign: [...document.querySelectorAll("img, iframe, object, embed, svg, form, base, link, video, audio, b, u, marquee")].map((made) => made.outerHTML),
    scripts: document.scripts.length,
    handlers: [...document.querySelectorAll("*")].flatMap((made) => [...made.attributes]).filter((one) => /^on|^style$/.test(one.name)
      && !one.value.startsWith("--part")).map((one) => one.name),
    skipped_levels: levels.filter((level, index) => index > 0 && level > levels[index - 1] + 1),
    first_level: levels[0],
    heads_without_scope: document.querySelectorAll("th:not([scope])").length,
    tables_without_caption: [...document.querySelectorAll("table")].filter((table) => !table.caption).length,
    mouse_only: [...document.querySelectorAll(".scroll")].filter((place) => place.tabIndex !== 0).length,
    resources: performance.getEntriesByType("resource").map((one) => one.name),
  };
})()"""
GOOD_STRUCTURE = {
    "foreign": [],
    "scripts": 5,
    "handlers": [],
    "skipped_levels": [],
    "first_level": 1,
    "heads_without_scope": 0,
    "tables_without_caption": 0,
    "mouse_only": 0,
    "resources": [],
}


def check(what, is_good, detail=""):
    if not is_good:
        print(f"FAILED: {what}: {detail}"[:1000])


def check_keyboard(browser):
    """Each stop of the Tab key shows where it is. The first is the link that skips to the content."""
    for stop in range(12):
        browser.press_tab()
        text, outline, x = browser.evaluate(
            "[document.activeElement.textContent.slice(0, 40), getComputedStyle(document.activeElement).outlineStyle, "
            "document.activeElement.getBoundingClientRect().x]"
        )
        if browser.evaluate("document.activeElement === document.body"):
            break  # behind the last stop
        check(f"stop {stop} of the Tab key", outline != "none" and x >= 0, (text, outline, x))
        check("the first stop", stop != 0 or text.startswith("Skip"), text)


def check_page(browser, page):
    for scheme in ("light", "dark"):
        for width in (1280, 400):
            browser.open(page, width=width, scheme=scheme)
            rows = different_rows(browser.screenshot())
            check(f"screenshot, {width} pixels, {scheme}", rows > 50, f"{rows} different rows")
            check("width of the page", browser.evaluate(WIDTH) <= width)
            # What is folded is a part of the page, too.
            browser.evaluate(
                "document.querySelectorAll('details').forEach((one) => { one.fill?.(); one.open = true; })"
            )
            time.sleep(0.2)
            structure = browser.evaluate(STRUCTURE)
            check("structure", structure == GOOD_STRUCTURE, structure)
            low = browser.evaluate(CONTRAST)
            check(f"contrast, {scheme}", low == [], low)
            check("width of the open page", browser.evaluate(WIDTH) <= width)
            check("console", browser.complaints() == [], browser.complaints())
    browser.open(page)
    check_keyboard(browser)
    pdf = base64.b64decode(browser.call("Page.printToPDF")["data"])
    check("print", pdf.startswith(b"%PDF"))
    printed = browser.evaluate(
        "['sizes', 'disassembly'].map((name) => [...document.querySelectorAll(`[aria-labelledby$=${name}] "
        "details`)].map((one) => one.children.length > 1))"
    )
    check(
        "print opens the entries, and no disassembly",
        all(printed[0]) and not any(printed[1]),
        printed,
    )
    check("console", browser.complaints() == [], browser.complaints())


def browse(pages):
    with chromium() as browser:
        for page in pages:
            check_page(browser, page)
            print(f"{Path(page).name} was checked")


def show(page, section):
    """The text of a section."""
    with chromium() as browser:
        browser.open(page)
        print(browser.evaluate(f"document.querySelector('[aria-labelledby$={section}]').innerText"))


def measure(page):
    """The middle of five, until the first frame with the content is drawn."""
    with chromium() as browser:
        times = []
        for _ in range(5):
            browser.open(page)
            times.append(
                browser.evaluate(
                    "new Promise((done) => requestAnimationFrame(() => "
                    "setTimeout(() => done(Math.round(performance.now())), 0)))"
                )
            )
            check("console", browser.complaints() == [], browser.complaints())
        print(
            f"{Path(page).stat().st_size} bytes, drawn after {sorted(times)[2]} ms of {sorted(times)}"
        )


def shoot(page, png, width, height, scheme, *left_out):
    with chromium() as browser:
        browser.open(page, int(width), int(height), scheme)
        for section in left_out:
            browser.evaluate(f"document.querySelector('[aria-labelledby$={section}]').remove()")
        time.sleep(0.3)
        Path(png).write_bytes(browser.screenshot())


def main():
    command, *words = sys.argv[1:]
    if command == "parse":
        print(dict(sorted(parse(words[0])[0].elements.items())))
    elif command == "documents":
        for name, document in parse(words[0])[1].items():
            Path(f"{name}.json").write_text(
                json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
            )
    elif command == "browse":
        browse(words)
    elif command == "show":
        show(*words)
    elif command == "time":
        measure(*words)
    else:
        shoot(*words)


main()
