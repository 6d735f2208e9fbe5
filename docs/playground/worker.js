// Runs topospread beside the page: loads Pyodide and the packages from this site, then answers one question at a time.
// What it posts: {loaded: bytes} while it loads, {ready: true, examples}, {id, told} for a question, {failed: words}.
import { loadPyodide } from "./pyodide.mjs";

const here = new URL(".", self.location.href);

async function fetched(name) {
  const response = await fetch(new URL(name, here));
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response.arrayBuffer();
}

async function begun() {
  const [python, packages] = await Promise.all([loadPyodide({ indexURL: here.href }), fetched("packages.zip")]);
  python.unpackArchive(packages, "zip", { extractDir: "/lib/python3.12/site-packages" });
  python.runPython("import asking; asking.prepare()");
  return python.pyimport("asking");
}

const asking = begun();
asking.then(
  () => self.postMessage({ ready: true }),
  (error) => self.postMessage({ failed: String(error) }),
);

self.onmessage = async ({ data }) => {
  try {
    const { id, question, manifest, cluster, target } = data;
    self.postMessage({ id, told: JSON.parse((await asking).ask(question, manifest, cluster, target)) });
  } catch (error) {
    self.postMessage({ failed: String(error) });
  }
};
