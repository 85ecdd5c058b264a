// Runs one TypeScript file of this repository: `node scripts/run.mjs FILE [ARGS]`.
// Node 20 cannot run TypeScript itself, so the file is bundled first; `@soong/*` is taken from source,
// so that nothing has to be built before.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { root, setUp } from "./setup.mjs";
import { sourceAlias } from "./source-alias.mjs";

setUp();

const [file, ...args] = process.argv.slice(2);
if (file === undefined) {
  console.error("Usage: node scripts/run.mjs FILE [ARGS]");
  process.exit(2);
}

process.chdir(root);
process.setSourceMapsEnabled(true);
const bundle = join(root, ".cache", "run", `${basename(file, ".ts")}.mjs`);
// Loaded only now, because the set-up step may just have installed it.
const { build } = await import("esbuild");
await build({
  entryPoints: [file],
  outfile: bundle,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  alias: sourceAlias(),
  plugins: [ownPackages(), plainModules()],
  sourcemap: "inline",
  logLevel: "error",
});

process.argv = [process.execPath, bundle, ...args];
await import(pathToFileURL(bundle).href);

/** @returns {import("esbuild").Plugin} what a package has in a node_modules of its own cannot be found from the bundle */
function ownPackages() {
  return {
    name: "own-packages",
    setup(bundle) {
      bundle.onResolve({ filter: /^[a-z]/ }, ({ path, importer }) => {
        const [, folder] = /^(.*\/packages\/[^/]+)\/src\//.exec(importer) ?? [];
        if (folder === undefined || !existsSync(join(folder, "node_modules", path)))
          return undefined;
        return { path: createRequire(importer).resolve(path), external: true };
      });
    },
  };
}

/** @returns {import("esbuild").Plugin} they run where they are: some find the repository by their own place in it */
function plainModules() {
  return {
    name: "plain-modules",
    setup(bundle) {
      bundle.onResolve({ filter: /^\.{1,2}\/.*\.mjs$/ }, ({ path, resolveDir }) => ({
        path: pathToFileURL(join(resolveDir, path)).href,
        external: true,
      }));
    },
  };
}
