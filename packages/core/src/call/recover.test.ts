import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { writtenFact } from "../../../../test/facts.ts";
import { isTerminalFact } from "../journal/index.ts";
import { recoveryEntry, type LostCall, type LostSession } from "./recover.ts";

const LATER = "2026-01-02T00:00:00.000Z";

const place = { run_id: "r", agent_id: "a" };

const requested = writtenFact({
  ...place,
  seq: 2,
  run_seq: 2,
  type: "tool.requested",
  tool_call_id: "c",
  tool_name: "a.tool",
  data: { index: 0, node_id: "n2", parent_node_id: "n1" },
  nodes: [{ node_id: "n0", sha256: "00" }],
  prev_hash: "ff",
});
const started = (data: object = {}) =>
  writtenFact({
    ...place,
    seq: 3,
    run_seq: 3,
    type: "tool.started",
    tool_call_id: "c",
    tool_name: "a.tool",
    data,
  });
const run = {
  fact: writtenFact({ ...place, seq: 1, run_seq: 1, type: "run.started" }),
  lastRunSeq: 3,
};

function session(about: Partial<LostSession> = {}): LostSession {
  return { lastSeq: 3, time: LATER, calls: [], runs: [run], ...about };
}

function resultOf(call: Partial<LostCall>) {
  const calls = [{ requested, artifacts: [], ...call }];
  const [end] = recoveryEntry(session({ calls }))?.facts ?? [];
  return end !== undefined && isTerminalFact(end) ? end.data.result : undefined;
}

describe("what is recorded for a lost session", () => {
  it("is nothing when nothing was lost", () => {
    expect(recoveryEntry(session({ runs: [] }))).toBeUndefined();
    expect(recoveryEntry(session({ runs: [{ ...run, hasEnded: true }] }))).toBeUndefined();
  });

  it("is, whole, one terminal fact with its node and one end of the run", () => {
    verifies("STORE-3");
    const call = { requested, started: started({ decision_ref: "f9" }), artifacts: [] };
    const text =
      "The runtime was stopped while a.tool was running. It may or may not have happened: find out before doing it again.";
    const own = { time: LATER, session_id: "s", run_id: "r", agent_id: "a" };
    const content = [{ type: "text", text }];
    expect(recoveryEntry(session({ calls: [call] }))).toStrictEqual({
      facts: [
        {
          ...own,
          id: "f4",
          seq: 4,
          run_seq: 4,
          type: "tool.failed",
          level: "warn",
          tool_call_id: "c",
          tool_name: "a.tool",
          data: {
            result: {
              tool_call_id: "c",
              tool_name: "a.tool",
              status: "unknown",
              is_error: true,
              content,
              summary: text,
              artifacts: [],
              error: {
                code: "runtime_restarted",
                error_class: "execution_failed",
                message: text,
                retryable: false,
                recovery: "ask_the_user",
              },
              metadata: {
                duration_ms: 0,
                provenance: { source_kind: "none", source_id: "none" },
              },
            },
            node_id: "n2",
            decision_ref: "f9",
          },
        },
        {
          ...own,
          id: "f5",
          seq: 5,
          run_seq: 5,
          type: "run.failed",
          level: "error",
          data: {
            reason: "runtime_restarted",
            message: "The runtime was stopped before this run had ended.",
          },
        },
      ],
      nodes: [
        {
          node_id: "n2",
          parent_id: "n1",
          session_id: "s",
          run_id: "r",
          agent_id: "a",
          kind: "tool_result",
          tool_call_id: "c",
          content,
          is_error: true,
        },
      ],
    });
  });

  it("closes a child with its calls before the calls of its parent, each run in call order", () => {
    verifies("STORE-3");
    const of = (run_id: string, seq: number) => ({ ...requested, run_id, seq });
    const childFact = { ...requested, run_id: "child", parent_run_id: "r", parent_agent_id: "a" };
    const asked = [of("r", 2), of("r", 3), { ...childFact, seq: 5 }, of("r", 6)];
    const calls = asked.map((one, i) => ({
      requested: { ...one, tool_call_id: `c${i}` },
      artifacts: [],
    }));
    const runs = [
      { fact: of("r", 1), lastRunSeq: 4 },
      { fact: childFact, lastRunSeq: 2 },
    ];
    const { facts = [] } = recoveryEntry({ lastSeq: 6, time: LATER, calls, runs }) ?? {};
    expect(
      facts.map(({ seq, run_id, run_seq, tool_call_id }) => [seq, run_id, run_seq, tool_call_id]),
    ).toEqual([
      [7, "child", 3, "c2"],
      [8, "child", 4, undefined],
      [9, "r", 5, "c0"],
      [10, "r", 6, "c1"],
      [11, "r", 7, "c3"],
      [12, "r", 8, undefined],
    ]);
    expect(facts[1]).toMatchObject({ parent_run_id: "r", parent_agent_id: "a" });
    expect(facts[1]).not.toHaveProperty("tool_name");
  });

  it("does not end a run again that ended before its calls", () => {
    verifies("STORE-3");
    const calls = [{ requested, artifacts: [] }];
    const entry = recoveryEntry(session({ calls, runs: [{ ...run, hasEnded: true }] }));
    expect(entry?.facts.map(({ type }) => type)).toEqual(["tool.skipped"]);
  });

  it("has no node where the request says of none", () => {
    const calls = [{ requested: { ...requested, data: { index: 0 } }, artifacts: [] }];
    const entry = recoveryEntry(session({ calls }));
    expect(entry?.nodes).toEqual([]);
    expect(entry?.facts[0]?.data).not.toHaveProperty("node_id");
    const root = { ...requested, data: { index: 0, node_id: "n2" } };
    const [node] =
      recoveryEntry(session({ calls: [{ requested: root, artifacts: [] }] }))?.nodes ?? [];
    expect(node).not.toHaveProperty("parent_id");
  });

  it("is refused for a call of a run that is not listed", () => {
    const calls = [{ requested, artifacts: [] }];
    expect(() => recoveryEntry(session({ calls, runs: [] }))).toThrow(
      "the lost call c is of run r, which is not listed",
    );
  });
});

describe("what the model sees of a lost call", () => {
  it("that had not started: nothing happened, and it can be tried again", () => {
    verifies("STORE-3");
    expect(resultOf({})).toMatchObject({
      status: "skipped",
      summary: "a.tool was not started: the runtime was stopped before its turn. Nothing happened.",
      error: { error_class: "canceled", retryable: true, recovery: "retry" },
    });
    expect(resultOf({ requested: { ...requested, tool_name: "" } })).toMatchObject({
      summary:
        "The tool was not started: the runtime was stopped before its turn. Nothing happened.",
    });
  });

  it("that only reads: it can be called again; of any other, to find out first", () => {
    verifies("STORE-3");
    const again = { status: "unknown", error: { retryable: true, recovery: "retry" } };
    const findOut = { status: "unknown", error: { retryable: false, recovery: "ask_the_user" } };
    const reads = { effects: { read_only: true } };
    expect(resultOf({ started: started(reads) })).toMatchObject(again);
    for (const data of [
      {},
      { effects: {} },
      { effects: { read_only: false } },
      { effects: { read_only: "true" } },
      { ...reads, class: "spawns_agent" },
      { ...reads, class: "starter" },
    ]) {
      expect(resultOf({ started: started(data) }), JSON.stringify(data)).toMatchObject(findOut);
    }
  });

  it("names what it had put aside, and nothing else of its record", () => {
    const ref = { artifact_id: "art", media_type: "text/plain", size: 4 };
    const record = { ...ref, sha256: "aa", session_id: "s", run_id: "r", created_at: LATER };
    const named = { ...ref, artifact_id: "b", sha256: "bb", name: "b.txt" };
    const result = resultOf({ started: started(), artifacts: [record, named] });
    expect(result).toMatchObject({ summary: expect.not.stringContaining("attached") as string });
    expect(result?.artifacts).toStrictEqual([{ ...ref, sha256: "aa" }, named]);
    expect(result?.content).toStrictEqual([
      {
        type: "text",
        text: expect.stringMatching(/What it had kept by then is attached\.$/) as string,
      },
      { type: "artifact_ref", ...ref },
      { type: "artifact_ref", ...ref, artifact_id: "b", name: "b.txt" },
    ]);
  });

  it("is paired by the ids and names the model used", () => {
    verifies("RESULT-1");
    const names = { native_call_id: "x", native_name: "a_tool", alias: "old.tool" };
    const data = { ...requested.data, ...names };
    expect(resultOf({ requested: { ...requested, data } })).toMatchObject({ metadata: names });
  });
});
