// Makes the component: node build.mjs FOLDER-OF-NODE_MODULES WIT-FOLDER OUTPUT.wasm
//
// componentize-js is installed apart (`npm install @bytecodealliance/componentize-js@0.23.0`), so that building leaves
// nothing beside the sources.

import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [modules, wit, output] = process.argv.slice(2).map((path) => resolve(path));
const script = join(modules, "node_modules/@bytecodealliance/componentize-js/src/componentize.js");
const { componentize } = await import(pathToFileURL(script));
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

// The world stands beside the sources, the contract where a package's dependencies are looked for.
const folder = await mkdtemp(join(tmpdir(), "wit-"));
try {
  await cp(wit, join(folder, "deps/airlock"), { recursive: true });
  await cp(here("world.wit"), join(folder, "world.wit"));
  const { component } = await componentize({
    sourcePath: here("adapter.js"),
    witPath: folder,
    worldName: "adapter",
    // Nothing of a system interface: the component would import it, and a host would refuse that.
    disableFeatures: ["random", "stdio", "clocks", "http", "fetch-event"],
  });
  await writeFile(output, component);
} finally {
  await rm(folder, { recursive: true });
}
