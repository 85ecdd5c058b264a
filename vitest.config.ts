import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { lawsReporter } from "./test/laws/reporter.ts";

const include = ["packages/*/src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts"];
const SKIPPED = new Set(["node_modules", "dist"]);
const REPLACES = /\bvi\.(mock|doMock|resetModules)\(/;
/** What drives a browser replaces parts of Node, so these share their workers with each other alone. */
const DRIVES = /\buseBrowser\(/;
/** Looks at the frames of a browser, which has no time for them beside other tests. */
const ALONE = "test/inspector/many-facts.test.ts";
const files = ["packages", "test", "scripts"].flatMap(testFiles);
const apart = filesWith(REPLACES);
const browser = filesWith(DRIVES).filter((path) => path !== ALONE);

// Loading our modules again for each file would be a third of the work. So test files share the modules of their
// worker, and leave what they share as they found it; those that replace a module have a worker each. One is last, alone.
export default defineConfig({
  test: {
    projects: [
      project("apart", { include: apart, isolate: true }),
      project("browser", { include: browser, isolate: false }),
      project("together", {
        include,
        exclude: ["**/node_modules/**", ALONE, ...apart, ...browser],
        isolate: false,
        setupFiles: ["test/left-as-found.ts"],
      }),
      project("alone", { include: [ALONE], isolate: true, sequence: { groupOrder: 1 } }),
    ],
    globalSetup: ["test/shared-folder.ts", "test/postgres/global-setup.ts"],
    // For all projects together. Left alone it takes one core less than there are, which on two cores is half of them.
    // Many tests wait for processes: a third worker has something to do meanwhile.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    reporters: ["default", lawsReporter()],
  },
});

function project(
  name: string,
  {
    setupFiles = [],
    ...files
  }: {
    readonly include: string[];
    readonly exclude?: string[];
    readonly isolate: boolean;
    readonly setupFiles?: string[];
    readonly sequence?: { readonly groupOrder: number };
  },
) {
  return {
    resolve: {
      alias: [
        { find: "#laws", replacement: here("./test/laws/verifies.ts") },
        { find: /^@soong\/([a-z]+)$/, replacement: here("./packages/$1/src/index.ts") },
        {
          find: "@soong/store/conformance",
          replacement: here("./packages/store/conformance/index.ts"),
        },
        {
          find: /^@soong\/([a-z]+)\/([a-z-]+)$/,
          replacement: here("./packages/$1/src/$2/index.ts"),
        },
      ],
    },
    test: {
      name,
      ...files,
      setupFiles: ["test/property-seed.ts", ...setupFiles],
      // Property tests and compilers on two busy cores; the long versions get longer.
      testTimeout: process.env.SOONG_TEST_FULL === "1" ? 600_000 : 60_000,
      hookTimeout: 60_000,
    },
  };
}

function testFiles(folder: string): string[] {
  return readdirSync(here(`./${folder}`), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : testFiles(path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}

function filesWith(sign: RegExp): string[] {
  return files.filter((path) => sign.test(readFileSync(here(`./${path}`), "utf8")));
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
