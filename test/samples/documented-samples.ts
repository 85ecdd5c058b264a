// Every page a user may read, and the samples on them.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { extractSamples, type Language, type Sample } from "./extract-samples.ts";

/** Those of these languages that the tests run. */
export function documentedSamples(...languages: readonly Language[]): Sample[] {
  return allSamples().filter(
    ({ language, notRun }) => languages.includes(language) && notRun === undefined,
  );
}

export function allSamples(): Sample[] {
  return pages().flatMap((page) => extractSamples(page, readFileSync(page, "utf8")));
}

function pages(): string[] {
  const docs = readdirSync("docs", { recursive: true, encoding: "utf8" });
  return [
    // The README in Chinese has the same samples: docs-chinese.test.ts.
    ...readdirSync(".").filter((name) => name !== "README.zh-CN.md"),
    ...readdirSync("packages").map((name) => join("packages", name, "README.md")),
    ...docs.map((name) => join("docs", name)),
  ].filter((page) => page.endsWith(".md") && existsSync(page));
}
