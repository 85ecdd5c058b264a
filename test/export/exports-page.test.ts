// The tables of docs/exports.md are what the code does. `SOONG_WRITE_EXPORTS=1 npx vitest run exports-page` writes them again.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { FactType } from "@soong/core";
import {
  AGENT_RUNTIME_UNMAPPED,
  AGENT_TOOL_UNMAPPED,
  createAgentRuntimeProjection,
  createAgentToolProjection,
  FACTS_WITHOUT_SPAN,
  type Projection,
} from "@soong/export";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { isSpanEvent } from "../../packages/export/src/otlp/span-events.ts";
import { FACT_TYPES, recordRuns } from "./recorded-runs.ts";

const PAGE = "docs/exports.md";

/** Of several texts, those that a value has; for standards that have several names for one thing. */
type Names = ReadonlyMap<FactType, readonly string[]>;

const SECTIONS: Readonly<Record<string, () => Promise<string> | string>> = {
  mapping: writeMapping,
  "not in Agent Tool": () => writeReasons(AGENT_TOOL_UNMAPPED),
  "not in Agent Runtime": () => writeReasons(AGENT_RUNTIME_UNMAPPED),
  "not in OpenTelemetry": () => writeReasons(FACTS_WITHOUT_SPAN),
};

test.each(Object.keys(SECTIONS))(
  "the page of exports says what the code does: %s",
  async (name) => {
    verifies("EXPORT-1", "DOC-1");
    const expected = (await SECTIONS[name]?.()) ?? "";
    if (process.env["SOONG_WRITE_EXPORTS"] === "1") writeSection(name, expected);
    expect(normalize(readSection(name))).toBe(normalize(expected));
  },
);

async function writeMapping(): Promise<string> {
  const runs = await recordRuns();
  const journals = runs.map(({ facts }) => facts);
  const collect = <Out>(create: () => Projection<Out>, nameOf: (record: Out) => string): Names => {
    const names = new Map<FactType, Set<string>>();
    for (const facts of journals) {
      const projection = create();
      for (const fact of facts) {
        const own = names.get(fact.type) ?? new Set();
        names.set(fact.type, own);
        for (const record of projection.push(fact)) own.add(nameOf(record));
      }
    }
    return new Map([...names].map(([type, own]) => [type, [...own].toSorted()]));
  };
  const tool = collect(createAgentToolProjection, (record) =>
    record.record_type === "tool_event" ? record.event_type : record.record_type,
  );
  const runtime = collect(
    () => createAgentRuntimeProjection(),
    ({ type }) => type,
  );
  const rows = FACT_TYPES.map((type) =>
    [
      quote(type),
      describe(type, tool.get(type), AGENT_TOOL_UNMAPPED),
      describe(type, runtime.get(type), AGENT_RUNTIME_UNMAPPED),
      describeSpan(type),
    ].join(" | "),
  );
  return table(["fact", "Agent Tool", "Agent Runtime", "OpenTelemetry"], rows);
}

function describe(type: FactType, names: readonly string[] = [], unmapped: object): string {
  if (Object.hasOwn(unmapped, type)) return "–";
  return names.length === 0 ? "part of other records" : names.map(quote).join(", ");
}

function describeSpan(type: FactType): string {
  if (Object.hasOwn(FACTS_WITHOUT_SPAN, type)) return "–";
  if (isSpanEvent(type)) return "event of its span";
  if (type === "tool.catalog.resolved") return "`gen_ai.tool.definitions`, with content";
  if (type.startsWith("run.")) return "`invoke_agent` span";
  return type.startsWith("model.") ? "`chat` span" : "`execute_tool` span";
}

/** One row for each reason, with all that have it. */
function writeReasons(unmapped: Readonly<Record<string, string>>): string {
  const byReason = new Map<string, string[]>();
  for (const type of FACT_TYPES) {
    const reason = unmapped[type];
    if (reason === undefined) continue;
    byReason.set(reason, [...(byReason.get(reason) ?? []), type]);
  }
  const rows = [...byReason].map(
    ([reason, types]) => `${types.map(quote).join(", ")} | ${reason.replace(/\.$/, "")}`,
  );
  return table(["facts", "why"], rows);
}

function table(heads: readonly string[], rows: readonly string[]): string {
  const rule = heads.map(() => "---").join(" | ");
  return [heads.join(" | "), rule, ...rows].map((row) => `| ${row} |`).join("\n");
}

function quote(name: string): string {
  return `\`${name}\``;
}

function bordersOf(name: string): readonly [string, string] {
  return [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
}

function readSection(name: string): string {
  const [begin, end] = bordersOf(name);
  const page = readFileSync(PAGE, "utf8");
  return page.slice(page.indexOf(begin) + begin.length, page.indexOf(end));
}

function writeSection(name: string, text: string): void {
  const [begin, end] = bordersOf(name);
  const page = readFileSync(PAGE, "utf8");
  const before = page.slice(0, page.indexOf(begin) + begin.length);
  writeFileSync(PAGE, `${before}\n\n${text}\n\n${page.slice(page.indexOf(end))}`);
  execFileSync("npx", ["oxfmt", PAGE], { stdio: "ignore" });
}

/** Tables as the formatter may lay them out. */
function normalize(markdown: string): string {
  return markdown.replaceAll(/-{3,}/g, "---").replaceAll(/\s+/g, " ").trim();
}
