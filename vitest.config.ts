import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { lawsReporter } from "./test/laws/reporter.ts";

export default defineConfig({
  resolve: {
    alias: [
      { find: "#laws", replacement: here("./test/laws/verifies.ts") },
      { find: /^@soong\/([a-z]+)$/, replacement: here("./packages/$1/src/index.ts") },
      { find: /^@soong\/([a-z]+)\/([a-z]+)$/, replacement: here("./packages/$1/src/$2/index.ts") },
    ],
  },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    globalSetup: ["test/shared-folder.ts"],
    setupFiles: ["test/property-seed.ts"],
    // Property tests and compilers on two busy cores; the long versions get longer.
    testTimeout: process.env.SOONG_TEST_FULL === "1" ? 600_000 : 60_000,
    hookTimeout: 60_000,
    // Left alone it takes one core less than there are, which on two cores is half of them. Many tests wait for processes:
    // a third worker has something to do meanwhile.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    reporters: ["default", lawsReporter()],
  },
});

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
