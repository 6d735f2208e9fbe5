// Starts Pyodide, imports topospread, and writes for docs/playground/python.js the memory, and the files that are not
// imported yet. Run by Node: snapshot.mjs PYODIDE PACKAGES SNAPSHOT
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dirname, join as joined } from "node:path/posix";
import { gzipSync } from "node:zlib";

const [pyodide, packages, snapshot] = process.argv.slice(2);
const { loadPyodide } = await import(join(pyodide, "pyodide.mjs"));
const python = await loadPyodide({ indexURL: pyodide, env: { HOME: "/tmp/playground" }, _makeSnapshot: true });
const { FS, LDSO } = python._module;

const files = new Map();
for (const path of readdirSync(packages, { recursive: true }).sort()) {
  if (statSync(join(packages, path)).isDirectory()) continue;
  const target = joined("/lib/python3.12/site-packages", path);
  files.set(target, readFileSync(join(packages, path)));
  FS.mkdirTree(dirname(target));
  FS.writeFile(target, files.get(target));
}
for (const path of python.runPython("import asking; asking.prepare()").toJs()) files.delete(path);

// In the order in which they were loaded, which decides the addresses of their functions.
const handles = new Map(Object.entries(LDSO.loadedLibsByHandle).map(([handle, library]) => [library, Number(handle)]));
const libraries = Object.values(LDSO.loadedLibsByName)
  .map((library) => ({ path: library.name, handle: handles.get(library) }))
  .filter(({ path }) => path.endsWith(".so"));

const sizes = [...files].map(([path, { length }]) => ({ path, size: length }));
const header = Buffer.from(JSON.stringify({ libraries, files: sizes }));
const unaligned = sizes.reduce((sum, { size }) => sum + size, 4 + header.length);
const padding = Buffer.alloc(-unaligned & 15, " "); // the memory begins at a multiple of 16
const length = Buffer.from(Uint32Array.of(header.length + padding.length).buffer);
const parts = [length, header, padding, ...files.values(), python.makeMemorySnapshot()];
writeFileSync(snapshot, gzipSync(Buffer.concat(parts), { level: 9 }));
