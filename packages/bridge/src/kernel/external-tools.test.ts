import { verifies } from "#laws";
import { createKernel, createMemoryJournal, defineHook, isTerminalFact } from "@soong/core";
import { expect, test } from "vitest";
import { createExternalTools } from "./external-tools.ts";
import { createGate } from "./gate.ts";

const ALLOW = { rules: [{ tool: "notes.write", decision: "allow" as const }] };

test("the host executes what is let through, and its output is the result on record", async () => {
  verifies("MODEL-6");
  const { external, gate, journal } = await openExternal();
  const answer = await external.before(gate, call("c1", "read", 1));
  expect(answer).toEqual({ decision: "allow", input: { id: 1 } });
  const outcome = await external.after("c1", { text: "note 1" });
  expect(outcome?.result).toMatchObject({ status: "succeeded", summary: "note 1" });
  expect(journal.facts.filter(isTerminalFact).map(({ type }) => type)).toEqual(["tool.completed"]);
});

test("an error of the host's tool is a failed call on record", async () => {
  const { external, gate } = await openExternal();
  await external.before(gate, call("c1", "read", 1));
  const outcome = await external.after("c1", { text: "no such note", is_error: true });
  expect(outcome?.result).toMatchObject({ status: "failed", is_error: true });
});

test("what is denied or invalid is not let through, with a reason for the model", async () => {
  verifies("MODEL-6");
  const { external, gate } = await openExternal({ policy: {} });
  const denied = await external.before(gate, call("c1", "write", 1));
  const invalid = await external.before(gate, call("c2", "read", "two"));
  expect(denied).toMatchObject({ decision: "deny", result: { status: "denied" } });
  expect(invalid).toMatchObject({ decision: "deny", result: { status: "failed" } });
  expect(await external.after("c1", { text: "it ran all the same" })).toBeUndefined();
});

test("a write is let through only after the reads before it have ended", async () => {
  verifies("MODEL-6");
  const { external, gate } = await openExternal();
  const order: string[] = [];
  const answers = [call("c1", "read", 1), call("c2", "read", 2), call("c3", "write", 3)].map(
    async (one) => {
      await external.before(gate, one);
      order.push(one.id);
    },
  );
  await Promise.all(answers.slice(0, 2));
  expect(order).toEqual(["c1", "c2"]);
  await external.after("c1", { text: "note 1" });
  await external.after("c2", { text: "note 2" });
  await answers[2];
  expect(order).toEqual(["c1", "c2", "c3"]);
  await external.after("c3", { text: "wrote 3" });
});

test("the host gets the input as hooks have changed it", async () => {
  const replace = defineHook({
    id: "replace",
    event: "PreToolUse",
    run: () => ({ input: { id: 7 } }),
  });
  const { external, gate } = await openExternal({ hooks: [replace] });
  const answer = await external.before(gate, call("c1", "read", 1));
  expect(answer).toEqual({ decision: "allow", input: { id: 7 } });
  await external.after("c1", { text: "note 7" });
});

test("an abort ends a call whose output never comes", async () => {
  const { external, gate, journal } = await openExternal();
  const loop = new AbortController();
  const answer = await external.before(gate, call("c1", "read", 1), { signal: loop.signal });
  expect(answer.decision).toBe("allow");
  loop.abort(new Error("stop"));
  await expect.poll(() => journal.facts.filter(isTerminalFact).length).toBe(1);
  expect(await external.after("c1", { text: "late" })).toBeUndefined();
});

test("two calls under one id each have their own input and result", async () => {
  const { external, gate, journal } = await openExternal();
  const both = [call("x", "write", 1), call("x", "write", 2)];
  const [first, second] = both.map((one) => external.before(gate, one));
  expect(await first).toMatchObject({ decision: "allow", input: { id: 1 } });
  await external.after("x", { text: "one" });
  expect(await second).toMatchObject({ decision: "allow", input: { id: 2 } });
  await external.after("x", { text: "two" });
  const ends = journal.facts.filter(isTerminalFact);
  expect(ends.map(({ data }) => data.result.summary)).toEqual(["one", "two"]);
  expect(await external.after("x", { text: "three" })).toBeUndefined();
});

test("a tool of the host cannot be called past the host", async () => {
  const { run } = await openExternal();
  const result = await run.call("notes.read", { id: 1 });
  expect(result.status).toBe("failed");
  expect(result.summary).toContain("the host executes this tool itself");
});

function call(id: string, verb: string, note: unknown) {
  return { id, name: `notes__${verb}`, arguments: { id: note } };
}

type RunOptions = NonNullable<Parameters<ReturnType<typeof createKernel>["startRun"]>[0]>;

async function openExternal(options: RunOptions = {}) {
  const schema = {
    type: "object",
    properties: { id: { type: "integer" } },
    required: ["id"],
  } as const;
  const external = createExternalTools([
    {
      name: "notes.read",
      description: "Read a note",
      input_schema: schema,
      permission: "readonly",
      concurrency_safe: true,
    },
    { name: "notes.write", description: "Write a note", input_schema: schema },
  ]);
  const journal = createMemoryJournal();
  const kernel = createKernel({ tools: [...external.tools] });
  const run = await kernel.startRun({ policy: ALLOW, ...options, journal });
  return { external, run, journal, gate: createGate(run) };
}
