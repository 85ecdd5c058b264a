// One run as its facts tell of it: whose it is, how it goes, what it has used so far.

import type { Cost, ModelEndData, ModelUsage, UsageTotal, WorkerData } from "@soong/agent";
import type { Fact, RunEndData } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import type { RunRow, Usage } from "../wire/session-records.ts";
import { oneLine, summarizeArguments } from "./read-data.ts";

/** What the run that started a child has on record of it. */
export type ChildLink = Pick<
  RunRow,
  "parent_run_id" | "parent_call_id" | "role" | "agent_definition_id" | "title"
>;

/** What a step is called, where that is on record. */
export type FindStep = (of: { task_id?: string; step_id?: string }) => string | undefined;

export type RunTrack = ReturnType<typeof trackRun>;

const MOST_TITLE_CHARS = 160;
const MOST_REASON_CHARS = 400;

/** `first`: the first fact of it. */
export function trackRun(first: Fact & { run_id: string }, at: number, findStep: FindStep) {
  const seqs = createSeqList();
  const row: RunRow = {
    run_id: first.run_id,
    agent_id: first.agent_id ?? "",
    status: "running",
    seq: first.seq,
    last_seq: first.seq,
    started_at: at,
    facts: 0,
    calls: 0,
    surfaces: 0,
  };
  let prompt_node_id: string | undefined;
  let used: UsageSum | undefined;

  return {
    seqs,
    get row(): RunRow {
      return omitUndefined({ ...row, facts: seqs.length, usage: used && totalUsage(used) });
    },
    get hasEnded() {
      return row.ended_at !== undefined;
    },
    /** Where the first answer of a model hangs: the prompt, or what came along with it. */
    get prompt_node_id() {
      return prompt_node_id;
    },
    link(link: ChildLink): void {
      Object.assign(row, omitUndefined({ ...link, ...omitUndefined(row) }));
    },
    countCall(): void {
      row.calls += 1;
    },
    /** One of its facts. True where the run ended with it. */
    take(fact: Fact, time: number | undefined): boolean {
      seqs.push(fact.seq);
      row.last_seq = fact.seq;
      if (row.agent_id === "") row.agent_id = fact.agent_id ?? "";
      row.parent_run_id ??= fact.parent_run_id;
      return row.ended_at === undefined && applyFact(fact, time);
    },
  };

  /** Whether it has ended by this. */
  function applyFact(fact: Fact, time: number | undefined): boolean {
    const { type, data } = fact;
    switch (type) {
      case "run.queued":
        row.status = "queued";
        break;
      case "run.started":
        row.status = "running";
        row.started_at = time ?? row.started_at;
        if (data.role && data.role !== "main") row.role = data.role;
        if (data.mode) row.mode = data.mode;
        break;
      case "model.started":
        prompt_node_id ??= data.parent_node_id;
        break;
      case "model.completed":
      case "model.failed":
        used = withRequest(used, data);
        break;
      case "tool.catalog.resolved":
        row.surfaces += 1;
        break;
      case "tool.requested":
        nameOwnCall(fact.tool_name, data.model_input);
        break;
      case "task.step.dispatched":
        row.title ??= firstLine(`dispatch to ${data.worker}: ${findStep(data) ?? data.step_id}`);
        break;
      case "run.completed":
      case "run.failed":
      case "run.aborted":
        row.status = type.slice("run.".length) as RunRow["status"];
        row.ended_at = Math.max(row.started_at, time ?? row.started_at);
        row.reason = oneLine(reasonIn(data, row.status), MOST_REASON_CHARS) || undefined;
        // Where its requests are on record, it is what they add up to.
        used ??= data.usage && recordedUsage(data.usage);
        return true;
      default:
        break;
    }
    return false;
  }

  /** A run below a prompt's that no model and no call began: what the user attached or typed. */
  function nameOwnCall(tool_name: string | undefined, input: unknown): void {
    if (row.parent_run_id === undefined || row.role !== undefined || row.title !== undefined)
      return;
    if (row.parent_call_id !== undefined || prompt_node_id !== undefined) return;
    const about = summarizeArguments(input) ?? "";
    row.own_call = tool_name === "code.read_file" ? "attached" : "typed";
    row.title = firstLine(row.own_call === "attached" ? `@${about}` : `! ${about || tool_name}`);
  }
}

/** What `agent.child.created` and `worker.dispatched` say of the child they are about. */
export function childLink(
  fact: Fact,
  findStep: FindStep = () => undefined,
): { child_run_id: string; link: ChildLink } | undefined {
  const { run_id: parent_run_id, tool_call_id: parent_call_id } = fact;
  if (fact.type === "worker.dispatched") {
    return linkTo(fact.data.run_id, { role: "worker", title: workTitle(fact.data) });
  }
  if (fact.type !== "agent.child.created") return undefined;
  const { child_run_id, role, agent_definition_id, task } = fact.data;
  const title = workTitle(fact.data) ?? firstLine(task);
  return linkTo(child_run_id, {
    role,
    agent_definition_id: agent_definition_id === "" ? undefined : agent_definition_id,
    title,
  });

  function workTitle(data: WorkerData): string | undefined {
    const { worker, task_id, step_id = task_id } = data;
    return worker && step_id && firstLine(`${worker}: ${findStep(data) ?? step_id}`);
  }

  function linkTo(child_run_id: string, about: Omit<ChildLink, "parent_run_id">) {
    if (child_run_id === "" || child_run_id === parent_run_id) return undefined;
    return { child_run_id, link: omitUndefined({ parent_run_id, parent_call_id, ...about }) };
  }
}

export function firstLine(text: string | undefined): string | undefined {
  const line = oneLine(text?.trimStart().split("\n", 1)[0] ?? "", MOST_TITLE_CHARS);
  return line === "" ? undefined : line;
}

function reasonIn({ error, message, reason = error?.code }: RunEndData, status: string): string {
  return error?.message ?? message ?? (reason === status ? undefined : reason) ?? "";
}

/** What a run used of models, added up over its requests, without what its children used. */
interface UsageSum {
  requests: number;
  unpriced: number;
  input_tokens?: number;
  output_tokens?: number;
  /** In millionths, by currency. */
  micros: ReadonlyMap<string, number>;
}

const NOTHING_USED: UsageSum = { requests: 0, unpriced: 0, micros: new Map() };

function withRequest(sum = NOTHING_USED, { usage = {}, cost }: ModelEndData): UsageSum {
  return {
    ...addUsage(sum, usage),
    requests: sum.requests + 1,
    unpriced: sum.unpriced + (cost ? 0 : 1),
    micros: cost ? withCost(sum.micros, cost) : sum.micros,
  };
}

/** What the end of a run says it used. */
function recordedUsage(usage: UsageTotal): UsageSum | undefined {
  const { requests, unpriced, cost } = usage;
  if (requests === 0) return undefined;
  return {
    ...addUsage(NOTHING_USED, usage),
    requests,
    unpriced: unpriced + (cost === null ? 1 : 0),
    micros: (cost ?? []).reduce(withCost, NOTHING_USED.micros),
  };
}

function addUsage(sum: UsageSum, usage: ModelUsage): UsageSum {
  const total = { ...sum };
  for (const count of ["input_tokens", "output_tokens"] as const) {
    const more = usage[count];
    if (more !== undefined) total[count] = (sum[count] ?? 0) + more;
  }
  return total;
}

function withCost(
  before: ReadonlyMap<string, number>,
  { currency, micros }: Cost,
): ReadonlyMap<string, number> {
  return new Map(before).set(currency, (before.get(currency) ?? 0) + micros);
}

/** Without a cost unless all of it is known, in one currency. */
function totalUsage({ requests, unpriced, micros, ...tokens }: UsageSum): Usage {
  const [cost, ...others] = micros;
  const isKnown = unpriced === 0 && cost !== undefined && others.length === 0;
  return {
    requests,
    ...tokens,
    ...(isKnown ? { cost: cost[1] / 1_000_000, currency: cost[0] } : { cost: null }),
  };
}

/** The seqs of a run's facts, in order and compact: a long session has hundreds of thousands of them. */
function createSeqList() {
  let kept = new Uint32Array(16);
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(seq: number): void {
      if (length === kept.length) {
        const longer = new Uint32Array(2 * kept.length);
        longer.set(kept);
        kept = longer;
      }
      kept[length] = seq;
      length += 1;
    },
    slice(offset: number, limit: number): number[] {
      const from = Math.min(Math.max(0, offset), length);
      return Array.from(kept.subarray(from, Math.min(length, from + Math.max(0, limit))));
    },
  };
}
