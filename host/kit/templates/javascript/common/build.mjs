// Makes the component: node build.mjs WORLD OUTPUT.wasm

import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { componentize } = await import("@bytecodealliance/componentize-js").catch((error) => {
  console.error(`run \`npm install\` here first (${error.code})`);
  process.exit(1);
});

const [world, output] = process.argv.slice(2);
const { component } = await componentize({
  sourcePath: here("component.js"),
  witPath: here("vendor/wit"),
  worldName: world,
  // Nothing of a system interface: the component would import it, and a host would refuse that.
  disableFeatures: ["random", "stdio", "clocks", "http", "fetch-event"],
});
await writeFile(here(output), component);
