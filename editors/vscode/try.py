"""Runs the packaged extension with node and a stand-in for VS Code's API: the client starts `topospread lsp`.

python editors/vscode/try.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
STAND_IN = r"""
const Module = require("module");
const started = [];
class LanguageClient {
  constructor(id, name, server, client) { this.given = { id, server, selector: client.documentSelector }; }
  async start() { started.push(this.given); if (this.given.server.command === "missing") throw new Error("ENOENT"); }
  async dispose() {}
}
const shown = [];
let command = JSON.parse(process.argv[2]);
const vscode = {
  workspace: {
    getConfiguration: () => ({ get: () => command }),
    workspaceFolders: [{ uri: { fsPath: process.cwd() } }],
    createFileSystemWatcher: () => ({}),
    onDidChangeConfiguration: () => ({}),
  },
  window: { showErrorMessage: (words) => shown.push(words) },
  commands: { registerCommand: () => ({}) },
};
const load = Module._load;
Module._load = (name, ...rest) =>
  name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...rest);
const extension = require(process.argv[1]);
(async () => {
  await extension.activate({ subscriptions: [] });
  await extension.deactivate();
  console.log(JSON.stringify({ started, shown }));
})();
"""


def activated(extension: Path, command: list[str]) -> dict[str, list]:
    """Return what the extension started, and the errors that it showed."""
    words = ["node", "-e", STAND_IN, str(extension), json.dumps(command)]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Try it with a program that is there, and with one that is not."""
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(HERE / "topospread.vsix").extractall(folder)
        extension = Path(folder) / "extension"
        for needed in ("vscode-languageclient", "vscode-jsonrpc", "semver"):
            assert (extension / "node_modules" / needed).is_dir(), f"{needed} is not packaged"
        found = activated(extension / "extension.js", [sys.executable, "-m", "topospread"])
        (started,) = found["started"]
        assert found["shown"] == []
        server = started["server"]
        done = subprocess.run([server["command"], *server["args"]], input=b"", capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b""), done.stderr
        missing = activated(extension / "extension.js", ["missing"])
        assert "pip install" in missing["shown"][0]
    print("extension: packaged, and starts topospread lsp")


if __name__ == "__main__":
    main()
