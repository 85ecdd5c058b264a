// A kept session with a run of very many facts, as a real one would have them: turns of a few calls each, some that wait
// for the user, fail or are refused.

import type { Fact, FactType } from "@soong/core";
import { openStore } from "@soong/store";
import { writtenFact } from "../facts.ts";

export interface ManyFacts {
  readonly session_id: string;
  readonly run_id: string;
  readonly calls: number;
}

const CALLS_A_TURN = 4;
const CALLS_AN_ENTRY = 64;

/** At least `count` facts, in a store of the home. */
export async function keepManyFacts(home: string, count: number): Promise<ManyFacts> {
  const store = await openStore({ directory: home });
  const kept = await store.createSession({ title: "very many facts", project: home });
  const { session_id } = kept;
  const [run_id, agent_id] = ["run_many", "agent_many"];
  let seq = 0;
  let calls = 0;
  let clock = Date.parse("2026-03-01T09:00:00Z");
  let entry: Fact[] = [];

  add("session.created", {}, { outside: true });
  add("run.queued", { ahead: 0 });
  add("run.started", { role: "main", mode: "normal" });
  while (seq < count) {
    if (calls % CALLS_A_TURN === 0) {
      add("model.started", { request: calls / CALLS_A_TURN + 1, attempt: 1, model: "m" });
    }
    addCall(calls);
    calls += 1;
    if (calls % CALLS_AN_ENTRY === 0) await commit();
  }
  add("run.completed", { reason: "completed", turns: calls / CALLS_A_TURN });
  await commit();
  await kept.close();
  await store.close();
  return { session_id, run_id, calls };

  function addCall(index: number): void {
    const tool_name = index % 5 === 0 ? "code.write_file" : "code.read_file";
    const of = { tool_call_id: `call_${index}`, tool_name };
    const path = `src/part-${index % 97}/file-${index}.ts`;
    const effects = { read_only: index % 5 !== 0, concurrency_safe: index % 5 !== 0 };
    add(
      "tool.requested",
      { index: index % CALLS_A_TURN, model_input: JSON.stringify({ path }) },
      of,
    );
    add("tool.validated", { effects }, of);
    add("tool.queued", { class: "together" }, of);
    const decision = index % 5 === 0 ? "ask" : "allow";
    add("permission.evaluated", { decision, reason: "Because.", chain: [] }, of);
    if (decision === "ask") {
      add("permission.requested", { request: { tool_name, arguments: { path } } }, of);
      clock += 900;
      add("permission.resolved", { decision: "allow_once", answered_by: "terminal" }, of);
    }
    add("tool.started", { decision: "allow", digest: `sha256:${index}` }, of);
    clock += (index % 13) * 7;
    const isError = index % 11 === 0;
    const result = {
      ...of,
      status: isError ? "failed" : "succeeded",
      is_error: isError,
      content: [{ type: "text", text: `line one of ${path}\n`.repeat(index % 7) }],
      summary: `${isError ? "Could not read" : "Read"} ${path}`,
      artifacts: [],
      metadata: { duration_ms: 3, provenance: { source_kind: "code", source_id: "code-1" } },
    };
    add(isError ? "tool.failed" : "tool.completed", { result }, of);
    add("tool.yielded", { status: result.status }, of);
  }

  function add(
    type: FactType,
    data: object,
    about: { outside?: boolean; tool_call_id?: string; tool_name?: string } = {},
  ): void {
    const { outside = false, ...of } = about;
    seq += 1;
    clock += 1;
    const ids = outside ? {} : { run_id, agent_id };
    const time = new Date(clock).toISOString();
    entry.push(writtenFact({ seq, type, time, session_id, ...ids, ...of, data }));
  }

  async function commit(): Promise<void> {
    kept.journal.append({ facts: entry });
    entry = [];
    await kept.journal.flush();
  }
}
