"""What MkDocs needs to make a site of docs/ (mkdocs.yml, scripts/build-docs.sh).

The pages are plain files of the repository first, and link to what is beside docs/ as well:
../README.md, ../examples/chat, ../tests/e2e/cross/run_cross.c. Here these become pages and
files of the site, under their paths in the repository, and links to them are rewritten. What
code hosts render and Python-Markdown does not is adapted."""
import logging
import os
import re

from mkdocs.structure.files import File

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOG = logging.getLogger("mkdocs.plugins.hooks")
# A code span, or the target of a link or image.
SPAN_OR_LINK = re.compile(r"(`+)(?:.|\n)*?\1|\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ *(```|~~~)")
OUTER_PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
STYLE = "pygments.css"


def split_fences(text):
    """(is code, text) of the parts of a page; together they are the page."""
    parts, lines, mark = [], [], None
    for line in text.splitlines(keepends=True):
        fence = FENCE.match(line)
        if mark is None and fence:
            parts.append((False, "".join(lines)))
            lines, mark = [line], fence[1]
        elif mark and line.strip() == mark:
            parts.append((True, "".join([*lines, line])))
            lines, mark = [], None
        else:
            lines.append(line)
    return [*parts, (mark is not None, "".join(lines))]


def find_target(page, link):
    """The path in the repository that a link of a page, another such path, leads to; and its
    anchor. No path for links to elsewhere and inside the page."""
    path, mark, anchor = link.partition("#")
    if not path or re.match(r"[a-z]+:", link):
        return None, ""
    path = os.path.normpath(os.path.join(os.path.dirname(page), path))
    if not os.path.exists(os.path.join(ROOT, path)) or path.startswith(".."):
        LOG.warning("%s links to %s, which is not there", page, link)
        return None, ""
    # A folder is shown by its README, or by the nearest one above.
    folder = path
    while os.path.isdir(os.path.join(ROOT, path)):
        path = os.path.join(folder, "README.md")
        if not os.path.exists(os.path.join(ROOT, path)):
            folder = path = os.path.dirname(folder)
    return path, mark + anchor


def get_place(path):
    """Where a file of the repository is in the site."""
    return path[len("docs/"):] if path.startswith("docs/") else path


def find_links(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        for is_code, text in split_fences(file.read()):
            for match in [] if is_code else SPAN_OR_LINK.finditer(text):
                if match[2]:
                    yield match[2]


def get_slug(text, separator):
    """A heading's anchor, as code hosts name it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", separator)


def on_config(config):
    config["mdx_configs"]["toc"] = {"slugify": get_slug}
    try:
        import pygments.formatters
    except ImportError:
        return config
    config["markdown_extensions"].append("codehilite")
    config["mdx_configs"]["codehilite"] = {"guess_lang": False}
    config["extra_css"].append(STYLE)
    config["glowish_style"] = pygments.formatters.HtmlFormatter().get_style_defs(".codehilite")
    return config


def on_files(files, config):
    def add(path):
        files.append(File(path, ROOT, config["site_dir"], config["use_directory_urls"]))

    outer = list(OUTER_PAGES)
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, "examples"))):
        if "README.md" in names:
            outer.append(os.path.relpath(os.path.join(folder, "README.md"), ROOT))
    for page in outer:
        add(page)
    inner = ["docs/" + file.src_path.replace(os.sep, "/")
             for file in files.documentation_pages() if file.src_path not in outer]
    for page in outer + inner:
        for link in find_links(page):
            path, _ = find_target(page, link)
            if path and not path.startswith("docs/") and path not in outer:
                outer.append(path)
                add(path)
    return files


def on_page_markdown(markdown, page, config, files):
    path = os.path.relpath(page.file.abs_src_path, ROOT)
    folder = os.path.dirname(get_place(path))

    def rewrite(match):
        target, anchor = find_target(path, match[2]) if match[2] else (None, "")
        if not target:
            return match[0]
        return f"]({os.path.relpath(get_place(target), folder or '.')}{anchor})"

    def adapt(text):
        text = SPAN_OR_LINK.sub(rewrite, text)
        # A comment does not begin a block there, and a bar in the code of a table is escaped.
        text = re.sub(r"^(<!--.*-->)$", r"\n\1\n", text, flags=re.M)
        return re.sub(r"^\|.*$", lambda row: re.sub(
            r"`[^`]*`", lambda code: code[0].replace(r"\|", "|"), row[0]), text, flags=re.M)

    return "".join(text if is_code else adapt(text)
                   for is_code, text in split_fences(markdown))


def on_post_build(config):
    if "glowish_style" in config:
        with open(os.path.join(config["site_dir"], STYLE), "w", encoding="utf-8") as file:
            file.write(config["glowish_style"])
