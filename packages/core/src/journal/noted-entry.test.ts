import { describe, expect, test, vi } from "vitest";
import { verifies } from "#laws";
import {
  createHeldClock,
  createMemoryJournal,
  createRedactor,
  type ConversationNode,
  type Fact,
  type FactData,
  type FactRecord,
  type Journal,
} from "./index.ts";
import { watchFacts } from "./live-facts.ts";
import { createRecorder } from "./recorder.ts";

const ORIGIN = { run_id: "run_1", agent_id: "agent_1", parent_run_id: "run_0" };

/** A record that counts how often a fact is made of it. */
function createRecord(tool_call_id = "call_1") {
  const made: string[] = [];
  const node: ConversationNode = {
    node_id: `node of ${tool_call_id}`,
    session_id: "s",
    run_id: "run_1",
    agent_id: "agent_1",
    kind: "tool_result",
    content: [],
  };
  const record: FactRecord = {
    tool_call_id,
    tool_name: "a.tool",
    nodes: [node],
    factData(type): FactData {
      made.push(type);
      return { class: "parallel" };
    },
  };
  return { record, made, node };
}

function createStage(journal: Journal = createMemoryJournal()) {
  const clock = createHeldClock(Date.parse("2026-01-02T03:04:05.006Z"));
  const session = createRecorder("s", journal, clock, createRedactor());
  return { clock, session, run: session.forRun(ORIGIN, createRedactor()) };
}

describe("a noted entry", () => {
  test("has the facts that would have been recorded whole, with the time at which they were noted", async () => {
    verifies("EVENT-1");
    const [lazy, whole] = [createMemoryJournal(), createMemoryJournal()];
    for (const journal of [lazy, whole]) {
      const { run, session, clock } = createStage(journal);
      const { record } = createRecord();
      session.record("session.created", {});
      if (journal === lazy) {
        expect(run.note(record, ["tool.queued", "tool.started"])).toBe(3);
        run.noteEach([record, createRecord("call_2").record], "tool.yielded");
      } else {
        const draft = (type: "tool.queued" | "tool.started" | "tool.yielded", id = "call_1") =>
          run.draft(type, { class: "parallel" }, { tool_call_id: id, tool_name: "a.tool" });
        run.commit([draft("tool.queued"), draft("tool.started")]);
        run.commit([draft("tool.yielded"), draft("tool.yielded", "call_2")]);
      }
      await clock.advance(1000);
      run.recordClean("tool.late", { how: "returned" });
    }
    expect(JSON.stringify(lazy.facts)).toBe(JSON.stringify(whole.facts));
    expect(lazy.facts).toHaveLength(6);
  });

  test("makes its facts when they are read; a journal in memory keeps them then", () => {
    verifies("EVENT-4");
    const journal = createMemoryJournal();
    const { run } = createStage(journal);
    const { record, made, node } = createRecord();
    run.note(record, "tool.queued", "info", true);
    expect(made).toEqual([]);
    const [first] = journal.facts;
    expect(journal.facts[0]).toBe(first);
    expect(made).toEqual(["tool.queued"]);
    expect(journal.nodes).toEqual([node]);
  });

  test("can be written as JSON, as an entry of plain facts", () => {
    verifies("EVENT-1");
    const memory = createMemoryJournal();
    const lines: string[] = [];
    const { run } = createStage({
      append(entry) {
        lines.push(JSON.stringify(entry));
        memory.append(entry);
      },
      flush: () => memory.flush(),
      read: (after, limit) => memory.read(after, limit),
    });
    run.note(createRecord().record, ["tool.validated", "tool.queued"], "info", true);
    const { facts, nodes } = memory;
    expect(lines).toEqual([JSON.stringify({ facts, nodes })]);
  });

  test("is taken whole by a journal or not at all", () => {
    verifies("PIPE-3");
    const memory = createMemoryJournal();
    let isFull = false;
    const { run } = createStage({
      append(entry) {
        if (isFull) throw new Error("disk full");
        memory.append(entry);
      },
      flush: () => memory.flush(),
      read: (after, limit) => memory.read(after, limit),
    });
    const { record } = createRecord();
    run.note(record, ["tool.validated", "tool.queued"], "info", true);
    isFull = true;
    expect(() => run.note(record, ["tool.started", "tool.completed"], "info", true)).toThrow(
      "disk full",
    );
    expect(memory.facts.map(({ seq, type }) => [seq, type])).toEqual([
      [1, "tool.validated"],
      [2, "tool.queued"],
    ]);
    expect(memory.nodes).toHaveLength(1);
  });
});

describe("watching facts", () => {
  test("brings those of the wanted types and run, whole or noted, in order, and makes no other", () => {
    verifies("EVENT-4");
    const journal = createMemoryJournal();
    const { run, session } = createStage(journal);
    const other = session.forRun({ run_id: "run_2", agent_id: "agent_2" }, createRedactor());
    const { record, made } = createRecord();
    const seen: Fact[] = [];
    const wanted = { types: new Set(["tool.started", "tool.late"] as const), run_id: "run_1" };
    const stop = watchFacts(journal, session, wanted, (fact) => seen.push(fact()));
    run.note(record, "tool.queued");
    run.note(record, "tool.started");
    other.note(record, "tool.started");
    run.recordClean("tool.late", { how: "returned" });
    stop();
    run.note(record, "tool.started");
    expect(made).toEqual(["tool.started"]);
    expect(seen.map(({ seq }) => seq)).toEqual([2, 4]);
    expect(journal.facts[1]).toEqual(seen[0]);
  });

  test("is recorded though a watcher throws, which is reported as unhandled", async () => {
    verifies("EVENT-4");
    const journal = createMemoryJournal();
    const { run, session } = createStage(journal);
    const { record } = createRecord();
    const unhandled = vi.fn();
    const before = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection").on("unhandledRejection", unhandled);
    try {
      const seen: number[] = [];
      const wanted = { types: new Set(["tool.queued"] as const) };
      watchFacts(journal, session, wanted, () => {
        throw new Error("of the watcher");
      });
      watchFacts(journal, session, wanted, (fact) => seen.push(fact().seq));
      run.note(record, "tool.queued");
      run.note(record, "tool.queued");
      await new Promise(setImmediate);
      expect(seen).toEqual([1, 2]);
      expect(journal.facts).toHaveLength(2);
      expect(unhandled).toHaveBeenCalledTimes(2);
    } finally {
      process.removeAllListeners("unhandledRejection");
      for (const listener of before) process.on("unhandledRejection", listener);
    }
  });

  test("tells of a fact once it is committed", () => {
    verifies("EVENT-4");
    const memory = createMemoryJournal();
    const listeners = new Set<() => void>();
    const committed = {
      seq: 0,
      subscribe(listener: () => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const journal: Journal = {
      append: (entry) => memory.append(entry),
      flush: () => memory.flush(),
      read: (after, limit) => memory.read(after, limit),
      committed,
    };
    const { run, session } = createStage(journal);
    const { record } = createRecord();
    const seen: number[] = [];
    const wanted = { types: new Set(["tool.started"] as const) };
    const stop = watchFacts(journal, session, wanted, (fact) => seen.push(fact().seq));
    for (let i = 0; i < 3; i += 1) run.note(record, "tool.started");
    expect(seen).toEqual([]);
    committed.seq = 2;
    for (const tell of listeners) tell();
    expect(seen).toEqual([1, 2]);
    stop();
    committed.seq = 3;
    for (const tell of listeners) tell();
    expect(seen).toEqual([1, 2]);
    expect(listeners.size).toBe(0);
  });
});
