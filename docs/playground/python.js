// Starts Python where `release/playground/snapshot.mjs` stopped it: with its memory, in which topospread is imported, its
// shared objects at the addresses that this memory has, and the files that nothing has imported yet.
const here = new URL(".", import.meta.url);

async function fetched(name) {
  const response = await fetch(new URL(name, here));
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response;
}

// The name of the snapshot ends with its hash. Unpacking it takes as long as everything else, so it is kept unpacked.
async function unpacked() {
  const sizes = await (await fetched("files.json")).json();
  const name = Object.keys(sizes).find((each) => each.startsWith("snapshot-"));
  const cache = await globalThis.caches?.open("topospread-playground"); // there is none on a page of plain HTTP
  const kept = await cache?.match(name);
  if (kept) return kept.arrayBuffer();
  const { body } = await fetched(name);
  const bytes = await new Response(body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  keep(cache, name, new Response(bytes)).catch(() => {}); // the browser may have no room for it
  return bytes;
}

async function keep(cache, name, response) {
  for (const old of (await cache?.keys()) ?? []) await cache.delete(old);
  await cache?.put(name, response);
}

function parts(bytes) {
  const [length] = new Uint32Array(bytes, 0, 1);
  let offset = 4 + length;
  const { files, libraries } = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  for (const file of files) {
    file.bytes = new Uint8Array(bytes, offset, file.size);
    offset += file.size;
  }
  return { files, libraries, memory: new Uint8Array(bytes, offset) };
}

export async function started() {
  const snapshot = unpacked();
  const [{ loadPyodide }] = await Promise.all([import("./pyodide.mjs"), import("./pyodide.asm.js")]);
  const create = globalThis._createPyodideModule;
  // By itself, loadPyodide restores no shared objects, and compiles nothing before it has the snapshot.
  globalThis._createPyodideModule = async (settings) => {
    const [module, bytes] = await Promise.all([create(Object.assign(settings, { noInitialRun: true })), snapshot]);
    const { files, libraries, memory } = parts(bytes);
    for (const { path, bytes } of files) {
      module.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
      module.FS.writeFile(path, bytes, { canOwn: true });
    }
    const heap = memory.subarray(new Uint32Array(memory.buffer, memory.byteOffset)[1]);
    module.growMemory(heap.length);
    for (const { path, handle } of libraries) {
      // Its description, of 40 bytes, says where its data and its functions were, and ends with the place of its bytes.
      const [address, size] = new Uint32Array(heap.buffer, heap.byteOffset + handle + 28, 2);
      for (const [begin, end] of [[handle, handle + 40], [address, address + size]]) {
        module.HEAPU8.set(heap.subarray(begin, end), begin);
      }
      module.loadDynamicLibrary(path, { nodelete: true }, {}, handle);
    }
    const { finalizeBootstrap, restoreSnapshot } = module.API;
    module.API.finalizeBootstrap = () => finalizeBootstrap(restoreSnapshot(memory));
    return module;
  };
  return loadPyodide({ indexURL: here.href, env: { HOME: "/tmp/playground" } });
}
