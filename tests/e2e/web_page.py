#!/usr/bin/env python3
"""Opens the page of examples/web in a headless Chromium and uses it.

    web_page.py [--screenshot FILE.png]

The page is made by examples/web/build.sh and comes from a static server. Digits are
drawn on it and images picked (tests/e2e/web/page_driver.js); the browser's console
stays empty. --screenshot writes an image of the page in use.

$GLOWISH_BIN: the programs (default build/release/bin). Prints what is wrong; exits
1 if something is, 77 without a browser (scripts/install-deps.sh --browser) or
wasm-ld-19.
"""

import functools
import html
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
WORK = os.path.abspath("build/e2e/web-page")
WINDOW = "860,840"
MOST_SECONDS = 120


class Handler(http.server.SimpleHTTPRequestHandler):
    """A static server that says nothing. The browser prints a page when it has
    loaded: the copy that tests itself has an image that comes when the test asks
    for /done."""
    done = threading.Event()

    def do_GET(self):
        if self.path not in ("/wait", "/done"):
            super().do_GET()
            return
        if self.path == "/done":
            self.done.set()
        else:
            self.done.wait(timeout=MOST_SECONDS)
        self.send_response(200)
        self.send_header("Content-Type", "image/svg+xml")
        self.end_headers()
        self.wfile.write(b'<svg xmlns="http://www.w3.org/2000/svg"/>')

    def log_message(self, *_):
        pass


def make_page():
    """The page, and a copy that tests itself."""
    shutil.rmtree(WORK, ignore_errors=True)
    page = os.path.join(WORK, "page")
    subprocess.run(["examples/web/build.sh", page], check=True,
                   stdout=subprocess.DEVNULL,
                   env={"GLOWISH_BIN": "build/release/bin", **os.environ})
    with open(os.path.join(page, "index.html"), encoding="utf-8") as file:
        text = file.read()
    shutil.copy("tests/e2e/web/page_driver.js", page)
    with open(os.path.join(page, "tested.html"), "w", encoding="utf-8") as file:
        file.write(text.replace(
            "</body>", '<img src="/wait" alt="" hidden>'
            '<script src="page_driver.js"></script></body>'))
    return page


def browse(browser, url, profile, *options):
    """What the browser, whose folder is `profile`, prints of a page, and what goes
    to its console."""
    Handler.done.clear()
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--user-data-dir=" + profile,
         "--enable-logging=stderr", "--hide-scrollbars", "--window-size=" + WINDOW, *options, url],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=2 * MOST_SECONDS,
        check=False)
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return done.stdout, console


def check_page(browser, url, screenshot):
    """What is wrong with the page."""
    profile = WORK + "/profile"
    dom, wrong = browse(browser, url, profile, "--dump-dom")
    result = re.search(r'<pre id="result"[^>]*>(.*?)</pre>', dom, re.DOTALL)
    if not result:
        wrong.append("the page's test did not come to its end")
    elif result.group(1) != "passed":
        wrong.append(html.unescape(result.group(1)))
    if screenshot:
        browse(browser, url, profile, "--screenshot=" + screenshot)
    return wrong


def main():
    screenshot = None
    if sys.argv[1:2] == ["--screenshot"] and len(sys.argv) == 3:
        screenshot = os.path.abspath(os.path.join(os.environ["PWD"],
                                                  sys.argv[2]))
    elif len(sys.argv) > 1:
        print(__doc__)
        return 2
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        print("skipped: there is no Chromium; "
              "scripts/install-deps.sh --browser installs it")
        return 77
    if not shutil.which("wasm-ld-19"):
        print("skipped: there is no wasm-ld-19; Debian's package lld-19 has it")
        return 77
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=make_page()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d/tested.html" % server.server_address[1]
    wrong = check_page(browser, url, screenshot)
    server.shutdown()
    print("; ".join(wrong) or "ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
