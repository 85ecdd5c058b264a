import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { lawsReporter } from "./test/laws/reporter.ts";

const include = ["packages/*/src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts"];
const SKIPPED = new Set(["node_modules", "dist"]);
/** Or have them replaced: what drives a browser does so with parts of Node. */
const REPLACES = /\bvi\.(mock|doMock|resetModules)\(|\buseBrowser\(/;
/** Looks at the frames of a browser, which has no time for them beside other tests. */
const ALONE = "test/inspector/many-facts.test.ts";
const apart = ["packages", "test", "scripts"]
  .flatMap(filesThatReplaceModules)
  .filter((path) => path !== ALONE);

// Loading our modules again for each file would be a third of the work. So test files share the modules of their
// worker, and leave what they share as they found it; those that replace a module have a worker each. One is last, alone.
export default defineConfig({
  test: {
    projects: [
      project("apart", { include: apart, isolate: true }),
      project("together", {
        include,
        exclude: ["**/node_modules/**", ALONE, ...apart],
        isolate: false,
      }),
      project("alone", { include: [ALONE], isolate: true, sequence: { groupOrder: 1 } }),
    ],
    globalSetup: ["test/shared-folder.ts"],
    // For all projects together. Left alone it takes one core less than there are, which on two cores is half of them.
    // Many tests wait for processes: a third worker has something to do meanwhile.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    reporters: ["default", lawsReporter()],
  },
});

function project(
  name: string,
  files: {
    readonly include: string[];
    readonly exclude?: string[];
    readonly isolate: boolean;
    readonly sequence?: { readonly groupOrder: number };
  },
) {
  return {
    resolve: {
      alias: [
        { find: "#laws", replacement: here("./test/laws/verifies.ts") },
        { find: /^@soong\/([a-z]+)$/, replacement: here("./packages/$1/src/index.ts") },
        {
          find: /^@soong\/([a-z]+)\/([a-z]+)$/,
          replacement: here("./packages/$1/src/$2/index.ts"),
        },
      ],
    },
    test: {
      name,
      ...files,
      setupFiles: ["test/property-seed.ts", ...(files.isolate ? [] : ["test/left-as-found.ts"])],
      // Property tests and compilers on two busy cores; the long versions get longer.
      testTimeout: process.env.SOONG_TEST_FULL === "1" ? 600_000 : 60_000,
      hookTimeout: 60_000,
    },
  };
}

/** What a file puts in the place of a module stays there for all files that share the modules of its worker. */
function filesThatReplaceModules(folder: string): string[] {
  return readdirSync(here(`./${folder}`), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : filesThatReplaceModules(path);
    if (!entry.name.endsWith(".test.ts")) return [];
    return REPLACES.test(readFileSync(here(`./${path}`), "utf8")) ? [path] : [];
  });
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
