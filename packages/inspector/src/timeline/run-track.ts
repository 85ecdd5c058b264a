// One run as its facts tell of it: whose it is, how it goes, what it has used so far.

import type { WorkerData } from "@soong/agent";
import type { Fact, RunEndData } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import type { RunRow } from "../wire/index.ts";
import { oneLine } from "./one-line.ts";
import { recordedUsage, usageOf, withRequest, type UsageSum } from "./run-usage.ts";
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
      return omitUndefined({ ...row, facts: seqs.length, usage });
    },
    get hasEnded() {
      return row.ended_at !== undefined;
    },
    get prompt_node_id() {
      return prompt_node_id;
    },
    link(link) {
      Object.assign(row, omitUndefined({ ...link, ...omitUndefined(row) }));
    },
    countCall() {
      row.calls += 1;
    },
    take(fact, time) {
      seqs.push(fact.seq);
      row.last_seq = fact.seq;
      if (row.agent_id === "") row.agent_id = fact.agent_id ?? "";
      if (row.parent_run_id === undefined && fact.parent_run_id !== undefined) {
        row.parent_run_id = fact.parent_run_id;
      }
      if (row.ended_at !== undefined) return false;
      return applyFact(fact, time);
    },
  };

  /** Whether it has ended by this. */
  function applyFact({ type, data }: Fact, time: number | undefined): boolean {
    switch (type) {
      case "run.queued":
        row.status = "queued";
        return false;
      case "run.started":
        row.status = "running";
        row.started_at = time ?? row.started_at;
        if (data.role && data.role !== "main") row.role = data.role;
        if (data.mode) row.mode = data.mode;
        return false;
      case "model.started":
        prompt_node_id ??= data.parent_node_id;
        return false;
      case "model.completed":
      case "model.failed":
        used = withRequest(used, data);
        return false;
      case "tool.catalog.resolved":
        row.surfaces += 1;
        return false;
      case "task.step.dispatched":
        row.title ??= firstLine(`dispatch to ${data.worker}: ${data.step_id}`);
        return false;
      case "run.completed":
        return ended("completed", data, time);
      case "run.failed":
        return ended("failed", data, time);
      case "run.aborted":
        return ended("aborted", data, time);
      default:
        return false;
    }
  }

  function ended(status: RunRow["status"], data: RunEndData, time: number | undefined): true {
    row.status = status;
    row.ended_at = Math.max(row.started_at, time ?? row.started_at);
    const reason = oneLine(reasonIn(data, status) ?? "", MOST_REASON_CHARS);
    if (reason !== "") row.reason = reason;
    // Where its requests are on record, it is what they add up to.
    used ??= data.usage && recordedUsage(data.usage);
    return true;
  }
}

/** What `agent.child.created` and `worker.dispatched` say of the child they are about. */
export function childLink(fact: Fact): { child_run_id: string; link: ChildLink } | undefined {
  const { run_id: parent_run_id, tool_call_id: parent_call_id } = fact;
  if (fact.type === "worker.dispatched") {
    return linkTo(fact.data.run_id, { role: "worker", title: workTitle(fact.data) });
  }
  if (fact.type !== "agent.child.created") return undefined;
  const { child_run_id, role, task } = fact.data;
  return linkTo(child_run_id, { role, title: workTitle(fact.data) ?? firstLine(task) });

  function linkTo(child_run_id: string, about: { role: string; title: string | undefined }) {
    if (child_run_id === "" || child_run_id === parent_run_id) return undefined;
    return { child_run_id, link: omitUndefined({ parent_run_id, parent_call_id, ...about }) };
  }
}

export function firstLine(text: string | undefined): string | undefined {
  const line = oneLine(text?.trimStart().split("\n", 1)[0] ?? "", MOST_TITLE_CHARS);
  return line === "" ? undefined : line;
}

function workTitle({ worker, task_id, step_id = task_id }: WorkerData): string | undefined {
  return worker && step_id && firstLine(`${worker}: ${step_id}`);
}

function reasonIn(
  { error, message, reason = error?.code }: RunEndData,
  status: string,
): string | undefined {
  return error?.message ?? message ?? (reason === status ? undefined : reason);
}
