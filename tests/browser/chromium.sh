#!/usr/bin/env bash
# The browser of the tests, Debian's Chromium: its path on standard output. Installed when it is missing and may be
# installed; a machine without it fails, because tests that were skipped have found nothing.
set -euo pipefail

found() { command -v chromium || command -v chromium-browser; }

if ! found > /dev/null; then
  [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null || {
    echo "chromium is missing: the browser tests drive it (apt-get install chromium)" >&2
    exit 1
  }
  echo "installing chromium" >&2
  { apt-get update --quiet=2 && DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 --yes --no-install-recommends \
    chromium fonts-dejavu-core; } >&2 || { echo "chromium could not be installed" >&2; exit 1; }
fi
found
