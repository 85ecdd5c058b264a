// Builds the page of the inspector, as it is published: one script, one style sheet, and the file that loads them.
// `node scripts/bundle-page.mjs [FOLDER]`; default: where the package has it.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { root } from "./setup.mjs";
import { sourceAlias } from "./source-alias.mjs";

const inspector = join(root, "packages", "inspector");
const source = join(inspector, "src", "page");

/** @param {string} target */
export async function bundlePage(target) {
  mkdirSync(target, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: [
      { in: join(source, "index.ts"), out: "page" },
      { in: join(source, "page.css"), out: "page" },
    ],
    outdir: target,
    // On a fresh clone nothing is built yet.
    alias: sourceAlias(),
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "error",
  });
  copyFileSync(join(source, "index.html"), join(target, "index.html"));
  const licences = ["preact", "marked"].map((name) => {
    const text = readFileSync(join(root, "node_modules", name, "LICENSE"), "utf8").trim();
    return `The page contains code of ${name}, under this licence.\n\n${text}\n`;
  });
  writeFileSync(join(target, "THIRD-PARTY-LICENSES.txt"), licences.join("\n"));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bundlePage(process.argv[2] ?? join(inspector, "dist", "page"));
}
