// Starts `topospread lsp` in the folder that is open, and hands it YAML and JSON files.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const [command, ...before] = vscode.workspace.getConfiguration("topospread").get("command");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  client = new LanguageClient(
    "topospread",
    "topospread",
    // On Windows programs are looked for in the working directory first: it must not be a stranger's folder.
    { command, args: [...before, "lsp"], options: { cwd: process.platform === "win32" ? undefined : folder } },
    {
      documentSelector: ["yaml", "json"].flatMap((language) => [
        { scheme: "file", language },
        { scheme: "untitled", language },
      ]),
      synchronize: {
        fileEvents: vscode.workspace.createFileSystemWatcher(
          "**/{topospread.toml,pyproject.toml,.topospread.yaml,.topospread.yml}",
        ),
      },
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(
      `topospread does not start: ${error.message ?? error}. Install it (pip install 'topospread[lsp]'), ` +
        "or set topospread.command.",
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.dispose();
}

async function restart() {
  await stop();
  await start();
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("topospread.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("topospread.command")) {
        return restart();
      }
    }),
  );
  await start();
};

exports.deactivate = stop;
