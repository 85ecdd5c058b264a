// Whether the demo did what it shows, judged by its record and its files and not by what was printed.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isTerminalFact, type Fact } from "@soong/core";
import type { Store } from "@soong/store";

export interface DemoPoint {
  readonly says: string;
  readonly holds: boolean;
}

export async function checkDemo(
  project: string,
  store: Store,
  { run_id, session_id }: { readonly run_id: string; readonly session_id: string },
): Promise<DemoPoint[]> {
  const facts = await (await store.readSession(session_id)).facts({ run_id });
  const results = facts.filter(isTerminalFact).map(({ data }) => data.result);
  const statuses = (tool: string): string =>
    results
      .filter(({ tool_name }) => tool_name === tool)
      .map(({ status }) => status)
      .join(" ");
  const source = await readFile(join(project, "src", "total.mjs"), "utf8");
  const isPublished = existsSync(join(project, "published.txt"));
  const verified = await store.verify(session_id, { artifacts: true });
  const looked = ["code.list_dir", "code.search", "code.read_file"];
  return [
    {
      says: "it listed, searched and read, side by side",
      holds: looked.every((tool) => statuses(tool) === "succeeded"),
    },
    {
      says: "an edit that did not fit changed nothing; the next one was made as shown",
      holds:
        statuses("code.edit_file") === "failed succeeded" &&
        source.includes("quantity >= 10 ? 0.1"),
    },
    {
      says: "the tests failed before it, and pass after it",
      holds: statuses("code.run_command") === "failed succeeded denied",
    },
    {
      says: `publishing was refused, by the rule in ${findDenyingRule(facts)}, and did not happen`,
      holds: findDenyingRule(facts).startsWith("config.toml:") && !isPublished,
    },
    {
      says: "the run was completed, and its record is as it was written",
      holds: facts.at(-1)?.type === "run.completed" && verified.ok,
    },
  ];
}

/** Where it is written, or "no file" when no rule of a file decided. */
function findDenyingRule(facts: readonly Fact[]): string {
  for (const { type, tool_name, data } of facts) {
    if (type !== "permission.evaluated" || tool_name !== "code.run_command") continue;
    const { decision, chain } = data;
    const origin = chain.find(({ decisive }) => decisive)?.origin;
    if (decision !== "deny" || origin?.file === undefined) continue;
    return `${basename(origin.file)}:${origin.line}`;
  }
  return "no file";
}
