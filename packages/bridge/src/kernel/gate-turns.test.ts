// What the calls of one tick have in common as one turn. Hooks that end a run, and refusals: gate.test.ts.

import { verifies } from "#laws";
import { createKernel, createMemoryJournal, defineHook, defineTool } from "@soong/core";
import { expect, test } from "vitest";
import { createGate } from "./gate.ts";

test("calls of one tick are one turn: reads in parallel, a write alone, a later read after it", async () => {
  verifies("MODEL-6");
  const { gate, log } = await openGate();
  await Promise.all([
    gate.execute(call("c1", "read", 1)),
    gate.execute(call("c2", "read", 2)),
    // A loop awaits a little before each of its calls.
    Promise.resolve().then(() => gate.execute(call("c3", "write", 3))),
    Promise.resolve().then(() => gate.execute(call("c4", "read", 4))),
  ]);
  expect(log).toEqual([
    "read 1",
    "read 2",
    "read 1 ended",
    "read 2 ended",
    "write 3",
    "write 3 ended",
    "read 4",
    "read 4 ended",
  ]);
});

test("after a write that fails, later calls of the turn are skipped, each with a result", async () => {
  verifies("MODEL-6");
  const { gate, log } = await openGate();
  const outcomes = await Promise.all([
    gate.execute(call("c1", "write", -1)),
    gate.execute(call("c2", "write", 2)),
    gate.execute(call("c3", "read", 3)),
  ]);
  expect(log).toEqual(["write -1"]);
  expect(outcomes.map(({ result }) => result.is_error)).toEqual([true, true, true]);
  expect(outcomes.map(({ result }) => result.tool_call_id)).toEqual(["c1", "c2", "c3"]);
});

test("what is started in another tick is another turn", async () => {
  const { gate } = await openGate();
  await gate.execute(call("c1", "write", -1));
  const { result } = await gate.execute(call("c2", "read", 2));
  expect(result.is_error).toBe(false);
});

test("unknown tools and invalid arguments have results that say what is wrong", async () => {
  verifies("MODEL-6");
  const { gate } = await openGate();
  const outcomes = await Promise.all([
    gate.execute(call("c1", "raed", 1)),
    gate.execute({ id: "c2", name: "notes__read", arguments: '{"id":' }),
    gate.execute(call("c3", "read", "three")),
  ]);
  expect(outcomes.map(({ result }) => result.error?.error_class)).toEqual([
    "unknown_tool",
    "invalid_arguments",
    "schema_validation_failed",
  ]);
});

test("an abort of the loop ends every call of the turn, and starts no more", async () => {
  verifies("MODEL-6");
  const loop = new AbortController();
  const { gate, log } = await openGate((entry) => {
    if (entry === "read 1") loop.abort(new Error("the user pressed stop"));
  });
  const outcomes = await Promise.all([
    gate.execute(call("c1", "read", 1), { signal: loop.signal }),
    gate.execute(call("c2", "write", 2), { signal: loop.signal }),
  ]);
  expect(log).not.toContain("write 2");
  expect(outcomes.map(({ result }) => result.status)).toEqual(["aborted", "aborted"]);
  expect(outcomes[1]?.result.metadata.abort_reason).toContain("the user pressed stop");
});

test("calls with the same id in one run each have a result and an id of their own", async () => {
  const { gate, journal } = await openGate();
  const outcomes = await Promise.all([
    gate.execute(call("c1", "read", 1)),
    gate.execute(call("c1", "read", 2)),
  ]);
  expect(outcomes.map(({ result }) => result.summary)).toEqual(["note 1", "note 2"]);
  const requested = journal.facts.filter(({ type }) => type === "tool.requested");
  expect(new Set(requested.map(({ tool_call_id }) => tool_call_id)).size).toBe(2);
});

test("what a hook adds to the conversation is with the call that it is about", async () => {
  const note = defineHook({
    id: "note",
    event: "PostToolUse",
    run: ({ tool_call_id }) => (tool_call_id === "c1" ? { context: "a draft" } : {}),
  });
  const { gate } = await openGate(undefined, [note]);
  const [first, second] = await Promise.all([
    gate.execute(call("c1", "read", 1)),
    gate.execute(call("c2", "read", 2)),
  ]);
  expect(first.added.map(({ content }) => content)).toEqual([[{ type: "text", text: "a draft" }]]);
  expect(second.added).toEqual([]);
});

function call(id: string, verb: string, note: unknown) {
  return { id, name: `notes__${verb}`, arguments: { id: note } };
}

async function openGate(
  onEntry: (entry: string) => void = () => {},
  hooks: ReturnType<typeof defineHook<"PostToolUse">>[] = [],
) {
  const log: string[] = [];
  const write = (entry: string): void => {
    log.push(entry);
    onEntry(entry);
  };
  const define = (verb: string, answer: string) => ({
    name: `notes.${verb}`,
    description: `${verb} a note`,
    input_schema: {
      type: "object",
      properties: { id: { type: "integer" } },
      required: ["id"],
    } as const,
    handler: async ({ id }: { id: number }) => {
      write(`${verb} ${id}`);
      if (id < 0) throw new Error("the disk is full");
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      write(`${verb} ${id} ended`);
      return `${answer} ${id}`;
    },
  });
  const tools = [
    defineTool({ ...define("read", "note"), permission: "readonly", concurrency_safe: true }),
    defineTool(define("write", "wrote")),
  ];
  const journal = createMemoryJournal();
  const run = await createKernel({ tools }).startRun({
    journal,
    hooks,
    policy: { rules: [{ tool: "notes.write", decision: "allow" }] },
  });
  return { log, journal, gate: createGate(run) };
}
