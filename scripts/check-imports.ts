// The import-direction check: reads the sources of all packages and checks them against the layout.

import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { layout } from "./layout.ts";
import { checkTree } from "./imports/rules.ts";
import { readSourceFile } from "./imports/source-file.ts";

const folders = readdirSync("packages");
const files = folders.flatMap((folder) => readSources(join("packages", folder, "src")));
const dependencies = Object.fromEntries(
  folders.map((folder) => [folder, readDependencies(folder)]),
);

const violations = checkTree(layout, { files, dependencies });
for (const violation of violations) console.error(violation);
if (violations.length > 0) {
  console.error(`\nViolations of scripts/layout.json: ${violations.length}`);
  process.exitCode = 1;
} else {
  console.log(`${files.length} files keep to the layout`);
}

function readSources(folder: string) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name))
    .map((path) => readSourceFile(path.split(sep).join("/"), readFileSync(path, "utf8")));
}

function readDependencies(folder: string): string[] {
  const manifest = JSON.parse(
    readFileSync(join("packages", folder, "package.json"), "utf8"),
  ) as Partial<Record<string, object>>;
  const kinds = ["dependencies", "optionalDependencies", "peerDependencies"];
  // The command and the inspector's page are published as bundles: what they are made of is there when they are built.
  if (folder === "cli" || folder === "inspector") kinds.push("devDependencies");
  return kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {}));
}
