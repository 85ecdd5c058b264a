// Every shell sample of the documentation is run, with the real program, in a home and a project no one has used:
// the samples of one page after another, as someone would who reads it from top to bottom.

import { openSandbox } from "@soong/platform";
import { verifies } from "#laws";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleCli, type CliBundle } from "./cli/cli-bundle.ts";
import { documentedSamples } from "./samples/documented-samples.ts";
import { openReader } from "./samples/reader.ts";
import { needsSandbox, withoutSandboxWarning } from "./sandbox/support.ts";

const samples = documentedSamples("sh", "yaml", "toml", "json");
const withCommands = [...new Set(documentedSamples("sh").map(({ page }) => page))];

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

test.for(withCommands)("the commands of %s do what it says", async (page, context) => {
  verifies("DOC-2");
  if (page === "docs/sandbox.md") needsSandbox(context, openSandbox().state());
  const reader = await openReader(bundle.program);
  try {
    for (const sample of samples.filter((one) => one.page === page)) {
      if (sample.file !== undefined) await reader.save(sample.file, sample.code);
      else if (sample.language === "sh") {
        const { output: said, code } = await reader.type(sample.code);
        const output = withoutSandboxWarning(said);
        expect(code, `${page}:${sample.line}\n${output}`).toBe(0);
        if (sample.prints !== undefined) expect(output).toMatch(asPattern(sample.prints));
      }
    }
  } finally {
    await reader.leave();
  }
});

/** `…` stands for whatever is not the same twice, such as an id; a line of nothing else for any lines, or none. */
function asPattern(promised: string): RegExp {
  const lines = promised.split("\n").slice(0, -1);
  return new RegExp(
    `^${lines.map((line) => (line === "…" ? "(?:.*\n)*?" : asLine(line))).join("")}$`,
  );
}

function asLine(line: string): string {
  return `${line.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", ".*?")}\n`;
}
