// Our packages by name, taken from their source: for bundling without building first.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

export function sourceAlias() {
  const folders = readdirSync(join(root, "packages"));
  return Object.fromEntries(
    folders.map((name) => [`@soong/${name}`, join(root, "packages", name, "src", "index.ts")]),
  );
}
