// Makes the component: node build.mjs FOLDER-OF-NODE_MODULES WIT-FOLDER OUTPUT.wasm
//
// componentize-js is installed apart (`npm install @bytecodealliance/componentize-js@0.23.0`), so that building leaves
// nothing beside the sources.

import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [modules, wit, output] = process.argv.slice(2).map((path) => resolve(path));
const package_ = `${modules}/node_modules/@bytecodealliance/componentize-js/src/componentize.js`;
const { componentize } = await import(pathToFileURL(package_));

const { component } = await componentize({
  sourcePath: fileURLToPath(new URL("adapter.js", import.meta.url)),
  witPath: wit,
  worldName: "domain-adapter",
  // Nothing of a system interface: the component would import it, and a host would refuse that.
  disableFeatures: ["random", "stdio", "clocks", "http", "fetch-event"],
});
await writeFile(output, component);
