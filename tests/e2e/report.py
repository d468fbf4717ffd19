#!/usr/bin/env python3
"""Opens compilation reports in a headless Chromium and uses them.

    report.py [--screenshots FOLDER]

The models are examples/digits, and resnet50 and bert_base of $GLOWISH_MODELS
(default build/models) where they are there. Each report is below 5 MB, comes out
the same twice, and passes tests/e2e/report_page.js; the browser's console stays
empty. --screenshots writes NAME.png of each page into a folder.

$GLOWISH_BIN: the programs (default build/release/bin). Prints what is wrong;
exits 1 if something is, 77 without a browser (scripts/install-deps.sh --browser).
"""

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
BIN = os.environ.get("GLOWISH_BIN", "build/release/bin")
MODELS = os.environ.get("GLOWISH_MODELS", "build/models")
MOST_BYTES = 5 << 20
WINDOW = "1400,2700"


def make_report(model, work, number, *options):
    """The path of a report of the model with its code."""
    path = os.path.join(work, "report%d.html" % number)
    subprocess.run([os.path.join(BIN, "model-compiler"), "-model=" + model,
                    "-emit-bundle=" + os.path.join(work, "bundle"),
                    "-network-name=net", "-report=" + path, *options],
                   check=True, stdout=subprocess.DEVNULL)
    return path


def browse(browser, page, work, *options):
    """What the browser prints of a page, and what goes to its console."""
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--user-data-dir=" + work + "/profile",
         "--enable-logging=stderr", "--virtual-time-budget=60000", *options,
         "file://" + page],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        timeout=300)
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return done.stdout, console


def check_page(browser, path, work):
    """What is wrong with a report."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if len(text.encode()) >= MOST_BYTES:
        return ["%d bytes" % len(text.encode())]
    with open("tests/e2e/report_page.js", encoding="utf-8") as file:
        driver = file.read()
    tested = os.path.join(work, "tested.html")
    with open(tested, "w", encoding="utf-8") as file:
        file.write(text.replace("</body>",
                                "<script>" + driver + "</script></body>"))
    wrong = []
    for page in (path, tested):
        dom, console = browse(browser, page, work, "--dump-dom")
        wrong += console
    result = re.search(r'<output id="result">(.*?)</output>', dom, re.DOTALL)
    if not result:
        wrong.append("the page's test did not come to its end")
    elif result.group(1) != "passed":
        wrong.append(html.unescape(result.group(1)))
    return wrong


def check_model(browser, name, model, screenshots):
    """What is wrong with the report of a model."""
    with tempfile.TemporaryDirectory() as work:
        first = make_report(model, work, 1, "-report-times=false")
        second = make_report(model, work, 2, "-report-times=false")
        with open(first, "rb") as one, open(second, "rb") as other:
            same = one.read() == other.read()
        wrong = [] if same else ["two reports of the same model differ"]
        wrong += check_page(browser, first, work)
        print("%-10s %8d bytes  %s" % (name, os.path.getsize(first),
                                       "; ".join(wrong) or "ok"), flush=True)
        if screenshots:
            path = make_report(model, work, 3)
            image = os.path.join(os.path.abspath(screenshots), name + ".png")
            browse(browser, path, work, "--hide-scrollbars",
                   "--window-size=" + WINDOW, "--screenshot=" + image)
        return wrong


def main():
    screenshots = None
    if sys.argv[1:2] == ["--screenshots"] and len(sys.argv) == 3:
        screenshots = sys.argv[2]
    elif len(sys.argv) > 1:
        print(__doc__)
        return 2
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        print("skipped: there is no Chromium; "
              "scripts/install-deps.sh --browser installs it")
        return 77
    models = {"digits": "examples/digits/digits.onnx"}
    for name in ("resnet50", "bert_base"):
        path = os.path.join(MODELS, name, "model.onnx")
        if os.path.exists(path):
            models[name] = path
        else:
            print("%-10s skipped: there is no %s" % (name, path))
    wrong = [check_model(browser, name, model, screenshots)
             for name, model in models.items()]
    return 1 if any(wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
