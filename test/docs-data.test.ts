// Every TOML, JSON and YAML sample of the documentation is read by what reads it for a user: the config, the
// declarative tools, the hooks, the scripts.

import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseScript } from "@soong/agent";
import { parseMcpSettings } from "@soong/mcp";
import { checkDeclarativeTool, describeProblem, loadHooks } from "@soong/tools";
import { verifies } from "#laws";
import { expect, onTestFinished, test } from "vitest";
import { parseConfig } from "../packages/cli/src/config/index.ts";
import { documentedSamples } from "./samples/documented-samples.ts";

const samples = documentedSamples("toml", "json", "yaml");

test.each(samples.map((sample) => [`${sample.page}:${sample.line}`, sample] as const))(
  "%s is sound",
  async (place, { page, language, code }) => {
    verifies("DOC-2");
    if (language === "toml") expect(() => parseConfig(code, place)).not.toThrow();
    else if (language === "yaml") expect(scriptProblems(code, place)).toEqual([]);
    else expect(await jsonProblems(page, code)).toEqual([]);
  },
);

function scriptProblems(code: string, place: string): string[] {
  const parsed = parseScript(code, place);
  return parsed.ok ? [] : parsed.problems.map(describeProblem);
}

/** A tool, hooks and servers are known by their fields; anything else is records, one a line or one in all. */
async function jsonProblems(page: string, code: string): Promise<string[]> {
  const records = recordsOf(code);
  const [first] = records;
  if (typeof first !== "object" || first === null) return [];
  // The gateway's page has files of other hosts.
  if ("mcpServers" in first && page !== "docs/gateway.md") {
    const settings = parseMcpSettings(code, page);
    return settings.ok ? [] : settings.problems.map(({ message }) => message);
  }
  const isTool = "command_type" in first;
  if (!isTool && !("hooks" in first)) return [];
  const folder = await mkdtemp(join(tmpdir(), "soong-docs-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "sample.json");
  await writeFile(file, code, { mode: 0o600 });
  await stubPrograms(folder, code);
  const checked = isTool
    ? await checkDeclarativeTool(file)
    : await loadHooks(file, { project: join(folder, "project") });
  return checked.ok ? [] : checked.problems.map(describeProblem);
}

function recordsOf(code: string): unknown[] {
  try {
    return [JSON.parse(code) as unknown];
  } catch {
    return code
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
  }
}

/** What a sample says is beside it is there. */
async function stubPrograms(folder: string, code: string): Promise<void> {
  for (const [, name = ""] of code.matchAll(/"\.\/([\w.-]+)"/g)) {
    await writeFile(join(folder, name), "#!/bin/sh\n");
    await chmod(join(folder, name), 0o700);
  }
}
