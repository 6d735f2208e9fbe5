#!/usr/bin/env bash
# Makes codemirror.js and LICENSES.txt anew of the npm packages whose versions packages.json pins; needs npm and nothing
# of it is needed to run or test topospread.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$here/packages.json" "$work/package.json"
cp "$here/source.js" "$work/source.js"
cd "$work"
npm install --silent --no-audit --no-fund --no-package-lock
node_modules/.bin/esbuild source.js --bundle --minify --format=esm --target=es2022 --legal-comments=none \
  --log-level=warning --metafile=made-of.json --outfile="$here/codemirror.js"

# The licence of every package that the bundle holds code of.
packages=$(node -e '
  const names = Object.keys(require("./made-of.json").inputs).map(each => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(each)?.[1]);
  console.log([...new Set(names.filter(Boolean))].sort().join("\n"))')
for name in $packages; do
  printf '%s %s\n\n' "$name" "$(node -p "require('./node_modules/$name/package.json').version")"
  cat "node_modules/$name/LICENSE"
  printf '\n\n'
done > "$here/LICENSES.txt"
