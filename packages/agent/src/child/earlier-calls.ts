// What runs of a session did to the outside, from its journal: the calls that began and may have changed something, with
// how each ended. After a crash those are the ones whose end is unknown.

import {
  isTerminalFact,
  tellingArgument,
  type Fact,
  type Journal,
  type Resource,
  type ToolResult,
} from "@soong/core";
import type { EarlierCall } from "../task/index.ts";

const PAGE = 1000;
const MOST_CALLS = 40;
const TARGET_CHARS = 200;

export async function earlierCalls(
  journal: Pick<Journal, "read">,
  run_ids: readonly string[],
): Promise<readonly EarlierCall[]> {
  const wanted = new Set(run_ids);
  const calls = new Map<string, { call: EarlierCall; wrote: boolean }>();
  for (let after = 0; ;) {
    const page = await journal.read(after, PAGE);
    for (const fact of page) if (wanted.has(fact.run_id ?? "")) take(calls, fact);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.seq;
  }
  const wrote = [...calls.values()].filter((one) => one.wrote).map(({ call }) => call);
  // What nobody knows comes first where there is not room for all.
  const unknown = wrote.filter(({ status }) => status === "unknown");
  const known = wrote.filter(({ status }) => status !== "unknown");
  return [...unknown, ...known].slice(0, MOST_CALLS);
}

function take(calls: Map<string, { call: EarlierCall; wrote: boolean }>, fact: Fact): void {
  const { type, run_id = "", tool_call_id, tool_name = "", data } = fact;
  if (tool_call_id === undefined) return;
  const key = `${run_id} ${tool_call_id}`;
  if (type === "tool.requested") {
    const targets = [inputOf(data)].filter((text) => text !== undefined);
    const call = { run_id, tool_call_id, tool_name, status: "unknown", targets };
    calls.set(key, { call, wrote: false });
  }
  const known = calls.get(key);
  if (known === undefined) return;
  if (type === "permission.evaluated") {
    const targets = targetsOf((data as { resources?: unknown }).resources);
    if (targets.length > 0) calls.set(key, { ...known, call: { ...known.call, targets } });
  } else if (type === "tool.started") {
    const { effects, class: kind } = data as { effects?: { read_only?: boolean }; class?: string };
    calls.set(key, { ...known, wrote: effects?.read_only !== true || kind === "starter" });
  } else if (isTerminalFact(type)) {
    const { result } = data as { result?: ToolResult };
    const status = result?.status ?? "unknown";
    calls.set(key, { ...known, call: { ...known.call, status } });
  }
}

function targetsOf(resources: unknown): string[] {
  if (!Array.isArray(resources)) return [];
  return (resources as Resource[]).slice(0, 5).map((resource) => {
    if (resource.kind === "path") return cut(resource.path);
    return cut(resource.kind === "command" ? resource.argv.join(" ") : resource.host);
  });
}

function inputOf(data: Fact["data"]): string | undefined {
  const { model_input } = data as { model_input?: unknown };
  if (typeof model_input !== "string") return cutDefined(tellingArgument(model_input));
  try {
    return cutDefined(tellingArgument(JSON.parse(model_input)));
  } catch {
    return undefined;
  }
}

function cutDefined(text: string | undefined): string | undefined {
  return text === undefined ? undefined : cut(text);
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > TARGET_CHARS ? `${line.slice(0, TARGET_CHARS)}…` : line;
}
