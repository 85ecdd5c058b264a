// One run as its facts tell of it: whose it is, how it goes, what it has used so far.

import type { Fact } from "@soong/core";
import type { RunRow } from "../wire/index.ts";
import { oneLine } from "./one-line.ts";
import { dataIn, textIn, type Data } from "./read-data.ts";
import { toldUsage, usageOf, withRequest, type UsageSum } from "./run-usage.ts";
import { createSeqList, type SeqList } from "./seq-list.ts";

/** What the run that started a child has on record of it. */
export type ChildLink = Pick<RunRow, "parent_run_id" | "parent_call_id" | "role" | "title">;

export interface RunTrack {
  readonly row: RunRow;
  readonly hasEnded: boolean;
  readonly seqs: SeqList;
  /** Where the first answer of a model hangs: the prompt, or what came along with it. */
  readonly prompt_node_id: string | undefined;
  /** One of its facts. True where the run ended with it. */
  take(fact: Fact, at: number | undefined): boolean;
  link(link: ChildLink): void;
  countCall(): void;
}

const MOST_TITLE_CHARS = 160;
const MOST_REASON_CHARS = 400;

/** `first`: the first fact of it. */
export function trackRun(first: Fact & { run_id: string }, at: number): RunTrack {
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
    get row() {
      const usage = used === undefined ? undefined : usageOf(used);
      return { ...row, facts: seqs.length, ...(usage === undefined ? {} : { usage }) };
    },
    get hasEnded() {
      return row.ended_at !== undefined;
    },
    get prompt_node_id() {
      return prompt_node_id;
    },
    link(link) {
      Object.assign(row, withoutNothing({ ...link, ...withoutNothing(row) }));
    },
    countCall() {
      row.calls += 1;
    },
    take(fact, time) {
      const data = dataIn(fact.data);
      seqs.push(fact.seq);
      row.last_seq = fact.seq;
      if (row.agent_id === "") row.agent_id = fact.agent_id ?? "";
      if (row.parent_run_id === undefined && fact.parent_run_id !== undefined) {
        row.parent_run_id = fact.parent_run_id;
      }
      if (row.ended_at !== undefined) return false;
      return heard(fact.type, data, time);
    },
  };

  function heard(type: string, data: Data, time: number | undefined): boolean {
    if (type === "run.queued") row.status = "queued";
    else if (type === "run.started") started(data, time);
    else if (type === "model.started") prompt_node_id ??= textIn(data, "parent_node_id");
    else if (type === "model.completed" || type === "model.failed") used = withRequest(used, data);
    else if (type === "tool.catalog.resolved") row.surfaces += 1;
    else if (type === "task.step.dispatched") entitle(stepTitle(data));
    else if (type === "run.completed") return ended("completed", data, time);
    else if (type === "run.failed") return ended("failed", data, time);
    else if (type === "run.aborted") return ended("aborted", data, time);
    return false;
  }

  function started(data: Data, time: number | undefined): void {
    row.status = "running";
    row.started_at = time ?? row.started_at;
    const role = textIn(data, "role");
    if (role !== undefined && role !== "main") row.role = role;
    const mode = textIn(data, "mode");
    if (mode !== undefined) row.mode = mode;
  }

  function ended(status: RunRow["status"], data: Data, time: number | undefined): true {
    row.status = status;
    row.ended_at = Math.max(row.started_at, time ?? row.started_at);
    const reason = oneLine(reasonIn(data, status) ?? "", MOST_REASON_CHARS);
    if (reason !== "") row.reason = reason;
    // Where its requests are on record, it is what they add up to.
    used ??= toldUsage(dataIn(data["usage"]));
    return true;
  }

  function entitle(title: string | undefined): void {
    if (title !== undefined) row.title ??= title;
  }
}

/** What `agent.child.created` and `worker.dispatched` say of the child they are about. */
export function childLink({
  type,
  run_id,
  tool_call_id,
  data: given,
}: Fact): { child_run_id: string; link: ChildLink } | undefined {
  if (type !== "agent.child.created" && type !== "worker.dispatched") return undefined;
  const data = dataIn(given);
  const isWorker = type === "worker.dispatched";
  const child_run_id = textIn(data, isWorker ? "run_id" : "child_run_id");
  if (child_run_id === undefined || child_run_id === run_id) return undefined;
  const link = {
    parent_run_id: run_id,
    parent_call_id: tool_call_id,
    role: isWorker ? "worker" : textIn(data, "role"),
    title: workTitle(data) ?? firstLine(textIn(data, "task")),
  };
  return { child_run_id, link: withoutNothing(link) };
}

export function firstLine(text: string | undefined): string | undefined {
  const line = oneLine(text?.trimStart().split("\n", 1)[0] ?? "", MOST_TITLE_CHARS);
  return line === "" ? undefined : line;
}

function workTitle(data: Data): string | undefined {
  const worker = textIn(data, "worker");
  const step = textIn(data, "step_id") ?? textIn(data, "task_id");
  return worker === undefined || step === undefined ? undefined : firstLine(`${worker}: ${step}`);
}

function stepTitle(data: Data): string | undefined {
  const title = workTitle(data);
  return title === undefined ? undefined : firstLine(`dispatch to ${title}`);
}

function reasonIn(data: Data, status: string): string | undefined {
  const { error } = data;
  const told = textIn(dataIn(error), "message") ?? textIn(data, "message");
  const reason = textIn(data, "reason") ?? textIn(dataIn(error), "code");
  return told ?? (reason === status ? undefined : reason);
}

function withoutNothing<Row extends object>(
  row: Row,
): { [Key in keyof Row]: NonNullable<Row[Key]> } {
  const kept = Object.entries(row).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as never;
}
