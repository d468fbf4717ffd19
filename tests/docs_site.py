#!/usr/bin/env python3
"""docs_site.py FOLDER: makes the site of docs/ in FOLDER (scripts/build-docs.sh), strictly, and
checks it: links and anchors lead somewhere, images are there, nothing is loaded from elsewhere,
each page is in the navigation, and no Markdown is left in the text. As the pages of the site are
those of the repository, this checks their links, too. Exits with 77 where there is no MkDocs."""
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What Python-Markdown leaves of a list, a table or a fence that it does not recognize.
MARKDOWN = re.compile(r"^(?:[-*] |\d+\. |\||```|#+ |!?\[.*\]\()", re.M)


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded, self.left = set(), [], [], []
        self.open = []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag not in ("br", "img", "input", "link", "meta", "hr"):
            self.open.append(tag)
        self.anchors.update(value for key, value in attributes
                            if key in ("id", "name") and tag != "meta")
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in ("img", "script") and values.get("src"):
            self.loaded.append(values["src"])
        if tag == "link" and values.get("rel") != "canonical" and values.get("href"):
            self.loaded.append(values["href"])

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if self.open[-1:] == ["p"] or self.open[-1:] == ["td"]:
            self.left += [data[match.start():][:60].split("\n")[0]
                          for match in MARKDOWN.finditer(data)]


def check_pages(site):
    """What is wrong with the pages."""
    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html") and name != "404.html":
                path = os.path.join(folder, name)
                pages[path] = Page(path)
    count = 0
    for path, page in sorted(pages.items()):
        name = os.path.relpath(path, site)
        for text in page.left:
            yield f"{name}: Markdown that is not rendered: {text}"
        for link in page.links + page.loaded:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                if link in page.loaded:
                    yield f"{name} loads {link} from elsewhere"
                continue
            count += 1
            target = path
            if url.path:
                target = os.path.normpath(os.path.join(os.path.dirname(path), unquote(url.path)))
                if os.path.isdir(target):
                    target = os.path.join(target, "index.html")
            if not os.path.exists(target):
                yield f"{name} links to {link}, which is not there"
            elif url.fragment and target in pages and \
                    unquote(url.fragment) not in pages[target].anchors:
                yield f"{name} links to {link}, an anchor that is not there"
    if len(pages) < 40 or count < 1000:
        yield f"only {len(pages)} pages and {count} links were found"
    print(f"{len(pages)} pages, {count} links")


def check_navigation():
    with open(os.path.join(ROOT, "mkdocs.yml"), encoding="utf-8") as file:
        listed = set(re.findall(r": (\S+\.md)$", file.read(), re.M))
    for top, places in (("docs", "docs"), ("examples", ".")):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), os.path.join(ROOT, places))
                if name.endswith(".md") and path not in listed:
                    yield f"{path} is not in the navigation of mkdocs.yml"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not shutil.which("mkdocs"):
        print("skipped: no MkDocs (scripts/install-deps.sh --docs)")
        return 77
    site = os.path.abspath(sys.argv[1])
    done = subprocess.run([os.path.join(ROOT, "scripts/build-docs.sh"), site],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        print(done.stdout)
        return 1
    wrong = [*check_navigation(), *check_pages(site)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
