// Our packages by name, taken from their source: for bundling without building first.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

export function sourceAlias() {
  /** @type {Record<string, string>} */
  const alias = {};
  for (const name of readdirSync(join(root, "packages"))) {
    for (const entry of entries(name)) {
      const folder = join(root, "packages", name);
      const beside = join(folder, entry, "index.ts");
      const source = existsSync(beside) ? beside : join(folder, "src", entry, "index.ts");
      alias[join("@soong", name, entry).replaceAll("\\", "/")] = source;
    }
  }
  return alias;
}

/**
 * What others may import of a package: itself, and the folders it exports by name, of its sources or beside them.
 *
 * @param {string} name
 */
function entries(name) {
  const file = join(root, "packages", name, "package.json");
  const manifest = /** @type {{ exports: Record<string, unknown> }} */ (
    JSON.parse(readFileSync(file, "utf8"))
  );
  return Object.keys(manifest.exports).filter((entry) => !entry.endsWith(".json"));
}
