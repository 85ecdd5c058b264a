// `npm run build`: compiles every package into its dist/, or those named and what they need, and bundles the page and
// the command. Only what has changed is compiled. `npm pack` runs it first (prepack).

import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "./command.ts";
import { compiledFolders, packageFolders } from "./layout.ts";

const existing = packageFolders();
const named = process.argv.slice(2);
const unknown = named.filter((name) => !existing.includes(name));
if (unknown.length > 0) {
  console.error(`No such package: ${unknown.join(", ")}. Packages: ${existing.join(", ")}`);
  process.exit(2);
}

const built = named.length > 0 ? named : existing;
run("tsc", ["--build", ...built.flatMap(compiledFolders)]);
for (const name of built) removeOrphans(join("packages", name));
if (built.includes("inspector")) run(process.execPath, ["scripts/bundle-page.mjs"]);
if (built.includes("cli")) run(process.execPath, ["scripts/bundle-cli.mjs"]);

/** The compiler leaves what it made of a source file that is gone, and it would be published. */
function removeOrphans(folder: string): void {
  const dist = join(folder, "dist");
  for (const path of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    const name = /^(.*)\.d\.ts$/.exec(path)?.[1];
    if (name === undefined) continue;
    if (["src", "."].some((from) => existsSync(join(folder, from, `${name}.ts`)))) continue;
    for (const extension of [".d.ts", ".js"]) rmSync(join(dist, name + extension), { force: true });
  }
}
