// Bundles the search of the kernel from its source, so that the bench measures what is there now and
// can reach its parts. Nothing is written to disk.

import { build } from "esbuild";
import { fileURLToPath } from "node:url";

/**
 * @typedef {typeof import("../../packages/search/src/search-index.ts")} Index
 * @typedef {typeof import("../../packages/search/src/search-document.ts")} Documents
 * @typedef {typeof import("../../packages/search/src/stem.ts")} Stems
 * @typedef {typeof import("../../packages/search/src/stop-words.ts")} StopWords
 * @typedef {typeof import("../../packages/search/src/tokenize.ts")} Words
 * @typedef {Index & Documents & Stems & StopWords & Words} Kernel
 */

const folder = fileURLToPath(new URL("../../packages/search/src/", import.meta.url));
const modules = ["search-index", "search-document", "stem", "stop-words", "tokenize"];

/** @returns {Promise<Kernel>} */
export async function loadKernel() {
  const bundled = await build({
    stdin: {
      contents: modules.map((name) => `export * from "./${name}.ts";`).join("\n"),
      resolveDir: folder,
    },
    bundle: true,
    format: "esm",
    target: "es2023",
    write: false,
  });
  const code = Buffer.from(bundled.outputFiles[0]?.contents ?? []).toString("base64");
  /** @type {unknown} */
  const loaded = await import(`data:text/javascript;base64,${code}`);
  return /** @type {Kernel} */ (loaded);
}
