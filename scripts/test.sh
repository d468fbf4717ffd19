#!/usr/bin/env bash
# test.sh [CTEST OPTION...]: installs what is missing, builds the release
# preset, and runs all tests. Ends with ctest's summary and its exit status.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh
scripts/build.sh release
echo "==> testing"
exec ctest --test-dir build/release --output-on-failure -j "$(nproc)" "$@"
