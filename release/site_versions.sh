#!/usr/bin/env bash
# Builds the site strictly and puts it among its versions: site_versions.sh TOOLS FOLDER. FOLDER/html is this version,
# FOLDER/versions what is published: a folder a version, `latest`, versions.json and a page that leads to the latest.
# FOLDER/pages.git keeps what was published; with PAGES_FROM=URL it begins with the branch gh-pages that is there, if any.
set -euo pipefail
[ $# = 2 ] || { sed -n 2,4p "$0"; exit 2; }
tools=$(cd "$1" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
pages=$folder/pages.git
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${SITE_VERSION:-}
[ -n "$version" ] || version=$(sed -n 's/^__version__ = "\([0-9]*\.[0-9]*\).*/\1/p' src/topospread/version.py)

[ -d "$pages" ] || git init --quiet --bare "$pages"
if [ -n "${PAGES_FROM:-}" ]; then
  there=$(git ls-remote --heads "$PAGES_FROM" gh-pages)
  [ -z "$there" ] || git --git-dir="$pages" fetch --quiet "$PAGES_FROM" +gh-pages:gh-pages
fi

# mike writes a commit: who wrote it is nobody's matter, and the reader's own repository is left alone.
export GIT_DIR=$pages NO_MKDOCS_2_WARNING=1
export GIT_AUTHOR_NAME=topospread GIT_AUTHOR_EMAIL=topospread@localhost
export GIT_COMMITTER_NAME=topospread GIT_COMMITTER_EMAIL=topospread@localhost
PATH=$tools:$PATH
# Not --quiet: it hides warnings from the count that a strict build fails on.
mike deploy --update-aliases --message "version $version" "$version" latest > "$folder/build.log" 2>&1 || {
  cat "$folder/build.log" >&2
  exit 1
}
mike -q set-default --message "latest is where one begins" latest

rm -rf "$folder/versions"
mkdir "$folder/versions"
git archive gh-pages | tar -x -C "$folder/versions"
