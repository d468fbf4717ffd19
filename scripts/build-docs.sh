#!/usr/bin/env bash
# build-docs.sh [FOLDER]: makes a site of docs/, the README and the examples' READMEs in
# build/site (or FOLDER) with MkDocs. It is a folder of files that a browser opens as it is;
# a server of static files makes its search work, too:
#
#   python3 -m http.server -d build/site
#
# A link that leads nowhere is an error. Needs mkdocs (scripts/install-deps.sh --docs).
set -euo pipefail
site=$(realpath -m "${1:-$(dirname "$0")/../build/site}")
cd "$(dirname "$0")/.."
if ! command -v mkdocs >/dev/null; then
  echo "build-docs.sh: MkDocs is not installed (scripts/install-deps.sh --docs)" >&2
  exit 1
fi
PYTHONDONTWRITEBYTECODE=1 mkdocs build --strict --clean --site-dir "$site"
echo "==> $site/index.html"
