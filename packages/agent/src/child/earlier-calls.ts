// What runs of a session did to the outside, from its journal: the calls that began and may have changed something, with
// how each ended. After a crash those are the ones whose end is unknown.

import { isTerminalFact, type Fact, type FactData, type Journal, type Resource } from "@soong/core";
import { primaryArgument, readCallClass } from "@soong/core/internal";
import { oneLine } from "@soong/schema";
import type { EarlierCall } from "@soong/tasks";

const PAGE = 1000;
const MOST_CALLS = 40;
const TARGET_CHARS = 200;

export async function readEarlierCalls(
  journal: Pick<Journal, "read">,
  run_ids: readonly string[],
): Promise<readonly EarlierCall[]> {
  const wanted = new Set(run_ids);
  const calls = new Map<string, { call: EarlierCall; wrote: boolean }>();
  for (let after = 0; ;) {
    const page = await journal.read(after, PAGE);
    for (const fact of page) if (wanted.has(fact.run_id ?? "")) applyCallFact(calls, fact);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.seq;
  }
  const wrote = [...calls.values()].filter((one) => one.wrote).map(({ call }) => call);
  // Calls with an unknown end come first where not all fit.
  const unknown = wrote.filter(({ status }) => status === "unknown");
  const known = wrote.filter(({ status }) => status !== "unknown");
  return [...unknown, ...known].slice(0, MOST_CALLS);
}

function applyCallFact(
  calls: Map<string, { call: EarlierCall; wrote: boolean }>,
  fact: Fact,
): void {
  const { run_id = "", tool_call_id, tool_name = "" } = fact;
  if (tool_call_id === undefined) return;
  const key = `${run_id} ${tool_call_id}`;
  if (fact.type === "tool.requested") {
    const targets = [describeInput(fact.data)].filter((text) => text !== undefined);
    const call = { run_id, tool_call_id, tool_name, status: "unknown", targets };
    calls.set(key, { call, wrote: false });
  }
  const known = calls.get(key);
  if (known === undefined) return;
  if (fact.type === "permission.evaluated") {
    const targets = describeTargets(fact.data.resources);
    if (targets.length > 0) calls.set(key, { ...known, call: { ...known.call, targets } });
  } else if (fact.type === "tool.started") {
    const { effects, class: kind } = fact.data;
    const startsAgent = kind !== undefined && readCallClass(kind) === "spawns_agent";
    calls.set(key, { ...known, wrote: effects?.read_only !== true || startsAgent });
  } else if (isTerminalFact(fact)) {
    const { status } = fact.data.result;
    calls.set(key, { ...known, call: { ...known.call, status } });
  }
}

function describeTargets(resources: readonly Resource[]): string[] {
  return resources.slice(0, 5).map((resource) => {
    if (resource.kind === "path") return cut(resource.path);
    return cut(resource.kind === "command" ? resource.argv.join(" ") : resource.host);
  });
}

function describeInput({ model_input }: FactData<"tool.requested">): string | undefined {
  if (typeof model_input !== "string") return cutDefined(primaryArgument(model_input));
  try {
    return cutDefined(primaryArgument(JSON.parse(model_input)));
  } catch {
    return undefined;
  }
}

function cutDefined(text: string | undefined): string | undefined {
  return text === undefined ? undefined : cut(text);
}

function cut(text: string): string {
  return oneLine(text, TARGET_CHARS);
}
