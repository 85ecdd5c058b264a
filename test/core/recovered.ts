// A journal that broke off, recovered, and everything that may be wrong with it then. Reads what was lost off
// the facts on its own: a store that finds it in another way has something to be compared with.

import {
  isTerminalFact,
  recoveryEntry,
  RUNTIME_RESTARTED,
  type ConversationNode,
  type Fact,
  type JournalEntry,
  type LostCall,
  type LostRun,
  type LostSession,
} from "@soong/core";

const TIME = "2026-01-02T00:00:00.000Z";

// ── what a crash left, read off the facts ───────────────────────────────────────────────────────────

export const factsOf = (entries: readonly JournalEntry[]) => entries.flatMap(({ facts }) => facts);
const nodesOf = (entries: readonly JournalEntry[]) => entries.flatMap(({ nodes }) => nodes ?? []);
/** The id of a call is its own only within its run. */
export const keyOf = ({ run_id, tool_call_id }: Fact) => `${run_id} ${tool_call_id}`;
const isRunEnd = ({ type }: Fact) => /^run\.(?:completed|failed|aborted)$/.test(type);

/** By the call or the run they are of; whoever is of none is omitted. */
function grouped(facts: readonly Fact[], by: "call" | "run"): Map<string, Fact[]> {
  const groups = new Map<string, Fact[]>();
  for (const fact of facts) {
    if (fact.run_id === undefined) continue;
    if (by === "call" && fact.tool_call_id === undefined) continue;
    const key = by === "call" ? keyOf(fact) : fact.run_id;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [fact]);
    else group.push(fact);
  }
  return groups;
}

function lostIn(entries: readonly JournalEntry[]): LostSession {
  const facts = factsOf(entries);
  const calls = [...grouped(facts, "call").values()].flatMap((own): LostCall[] => {
    const requested = own.find((fact) => fact.type === "tool.requested");
    if (requested === undefined || own.some(isTerminalFact)) return [];
    const started = own.find((fact) => fact.type === "tool.started");
    // What came before that are its arguments, where they were too long for the fact.
    const artifacts = own
      .filter((fact) => fact.type === "artifact.created")
      .filter(({ seq }) => seq > (started?.seq ?? seq))
      .map(({ data }) => data);
    return [{ requested, started, artifacts }];
  });
  const runs = [...grouped(facts, "run")].flatMap(([run_id, own]): LostRun[] => {
    const hasEnded = own.some(isRunEnd);
    if (hasEnded && !calls.some(({ requested }) => requested.run_id === run_id)) return [];
    return [{ fact: own[0] as Fact, lastRunSeq: own.length, hasEnded }];
  });
  return { lastSeq: facts.length, time: TIME, calls, runs };
}

export function recovered(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const entry = recoveryEntry(lostIn(entries));
  return entry === undefined ? entries : [...entries, entry];
}

/** A crash can come after any entry, and before the first. */
export function prefixesOf(entries: readonly JournalEntry[]): (readonly JournalEntry[])[] {
  return [...entries.map((_, i) => entries.slice(0, i)), entries];
}

// ── what must be so afterwards ──────────────────────────────────────────────────────────────────────

/** Everything that is wrong, in words: thousands of prefixes are cheaper to look at than to `expect`. */
export function faults(
  before: readonly JournalEntry[],
  given: ReadonlySet<string> = new Set(),
): string[] {
  const after = recovered(before);
  const found: string[] = [];
  const check = (holds: boolean, what: string): void => {
    if (!holds) found.push(what);
  };
  const all = factsOf(after);
  const old = factsOf(before);
  const added = all.slice(old.length);
  check(
    all.slice(0, old.length).every((fact, i) => fact === old[i]),
    "an old fact changed",
  );
  check(
    all.every(({ seq, id }, i) => seq === i + 1 && id === `f${seq}`),
    "seq has a hole",
  );
  check(recovered(after) === after, "a second recovery adds something");
  check(
    added.every((fact) => isTerminalFact(fact) || fact.type === "run.failed"),
    "recovery recorded something else",
  );

  for (const [run_id, own] of grouped(all, "run")) {
    check(
      own.every(({ run_seq }, i) => run_seq === i + 1),
      `run_seq of ${run_id} has a hole`,
    );
    check(own.filter(isRunEnd).length === 1, `${run_id} has not one end`);
    const whose = own.map(({ session_id, agent_id, parent_run_id, parent_agent_id }) =>
      JSON.stringify([session_id, agent_id, parent_run_id, parent_agent_id]),
    );
    check(new Set(whose).size === 1, `the facts of ${run_id} are of different runs`);
    const end = own.findLast(isRunEnd) as Fact;
    if (end.seq <= old.length) continue;
    check(own.at(-1) === end, `${run_id} has a fact after its end`);
    check(end.tool_call_id === undefined, `the end of ${run_id} is of a call`);
    const children = added.filter((fact) => fact.parent_run_id === run_id);
    const waiting = added.find((fact) => fact.run_id === run_id) as Fact;
    check(
      children.every(({ seq }) => seq < waiting.seq),
      `a child of ${run_id} ends after it`,
    );
  }

  const requested = all.filter((fact) => fact.type === "tool.requested");
  check(new Set(requested.map(keyOf)).size === requested.length, "a call was requested twice");
  const stories = grouped(all, "call");
  for (const request of requested) {
    check(...judge(request, stories.get(keyOf(request)) ?? [], old.length));
  }
  found.push(...brokenPaths(requested, nodesOf(after), given));
  return found;
}

function judge(
  request: Fact<"tool.requested">,
  own: readonly Fact[],
  lastSeq: number,
): [boolean, string] {
  const key = keyOf(request);
  const ends = own.filter(isTerminalFact);
  const [end] = ends;
  if (end === undefined || ends.length > 1) return [false, `${key} has ${ends.length} ends`];
  if (end.seq <= lastSeq) return [true, ""];
  const { result, node_id } = end.data;
  const started = own.find((fact) => fact.type === "tool.started");
  const status = started === undefined ? "skipped" : "unknown";
  const isWhole =
    result.status === status &&
    result.tool_call_id === request.tool_call_id &&
    result.tool_name === request.tool_name &&
    end.tool_name === request.tool_name &&
    result.is_error &&
    result.summary !== "" &&
    result.content[0]?.type === "text" &&
    result.content[0].text.startsWith(result.summary) &&
    result.error?.code === RUNTIME_RESTARTED &&
    result.error.message === result.summary &&
    result.metadata.native_call_id === request.data.native_call_id &&
    result.metadata.provenance !== undefined &&
    end.data.decision_ref === started?.data.decision_ref &&
    node_id === request.data.node_id &&
    end.time === TIME &&
    end.type === (started === undefined ? "tool.skipped" : "tool.failed");
  return [isWhole, `the lost ${key} ended as ${JSON.stringify(end)}`];
}

/** From the last call of every turn, the way up meets the results of all of them, in call order. */
function brokenPaths(
  requested: readonly Fact<"tool.requested">[],
  nodes: readonly ConversationNode[],
  given: ReadonlySet<string>,
): string[] {
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  const found = byId.size === nodes.length ? [] : ["a node id is there twice"];
  for (const { node_id, parent_id } of nodes) {
    if (parent_id === undefined || byId.has(parent_id) || given.has(parent_id)) continue;
    found.push(`the parent of ${node_id} is not there`);
  }
  const follows = new Set(requested.map(({ data }) => data.parent_node_id));
  for (const last of requested.filter(({ data }) => !follows.has(data.node_id))) {
    const { index, node_id } = last.data;
    const results: string[] = [];
    for (let at = byId.get(node_id ?? ""); at !== undefined;) {
      if (at.kind === "tool_result") results.unshift(`${at.run_id} ${at.tool_call_id}`);
      at = at.parent_id === undefined ? undefined : byId.get(at.parent_id);
    }
    const asked: string[] = [];
    for (let at: Fact<"tool.requested"> | undefined = last; at !== undefined;) {
      const up: string | undefined = at.data.parent_node_id;
      asked.unshift(keyOf(at));
      at = requested.find(({ data }) => up !== undefined && data.node_id === up);
    }
    if (asked.length <= index) found.push(`calls before ${keyOf(last)} are not on record`);
    if (results.join() !== asked.join()) found.push(`the path is ${results.join()}`);
  }
  return found;
}
