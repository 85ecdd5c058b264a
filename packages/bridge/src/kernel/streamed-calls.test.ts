import { createKernel, createMemoryJournal, defineTool, type AnyTool } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createGate } from "./gate.ts";
import { StreamedCalls, type StreamedCall } from "./streamed-calls.ts";

test("a read starts while the answer streams, a write when the loop has started every call", async () => {
  verifies("MODEL-6");
  const { streamed, log } = await open();
  const answer = streamed.openAnswer();
  answer.push(call("c1", "read", 1));
  answer.push(call("c2", "write", 2));
  answer.push(call("c3", "read", 3));
  await settle();
  expect(log).toEqual(["read 1"]);
  answer.complete();
  await settle();
  expect(log).toEqual(["read 1"]);
  const results = await Promise.all(
    ["c1", "c2", "c3"].map(async (id) => (await streamed.claim(findCall(id)))?.outcome),
  );
  expect(results.map((outcome) => outcome?.result.status)).toEqual([
    "succeeded",
    "succeeded",
    "succeeded",
  ]);
  expect(log).toEqual(["read 1", "write 2", "read 3"]);
});

test("a loop may start calls before the answer is complete", async () => {
  const { streamed, log } = await open();
  const answer = streamed.openAnswer();
  answer.push(call("c2", "write", 2));
  const claimed = streamed.claim(findCall("c2"));
  await settle();
  expect(log).toEqual([]);
  answer.complete();
  expect((await (await claimed)?.outcome)?.result.status).toBe("succeeded");
});

test.each([true, false])(
  "calls of an answer that failed do not run, also if the loop starts them (early start: %s)",
  async (isEarly) => {
    verifies("MODEL-6");
    const { streamed, log, count } = await open({ isEarly });
    const answer = streamed.openAnswer();
    answer.push(call("c1", "read", 1));
    answer.push(call("c2", "write", 2));
    const before = streamed.claim(findCall("c1"));
    await settle();
    answer.drop("the answer failed");
    const after = streamed.claim(findCall("c2"));
    for (const claimed of [before, after]) {
      expect((await (await claimed)?.outcome)?.result.status).toBe("discarded");
    }
    expect(log).toEqual(isEarly ? ["read 1"] : []);
    expect(count("tool.discarded")).toBe(2);
  },
);

test("an answer that the loop did not execute has written nothing when it asks the model again", async () => {
  const { streamed, log, count } = await open();
  const answer = streamed.openAnswer();
  answer.push(call("c2", "write", 2));
  answer.complete();
  streamed.closeAnswers();
  await settle();
  expect(log).toEqual([]);
  expect(count("tool.discarded")).toBe(1);
  // A call that it starts after all is executed then.
  expect(await streamed.claim(findCall("c2"))).toBeUndefined();
});

test("an answer that the loop has begun to execute stays when another request is made", async () => {
  const { streamed, log } = await open();
  const answer = streamed.openAnswer();
  answer.push(call("c1", "read", 1));
  answer.push(call("c2", "write", 2));
  answer.complete();
  const first = streamed.claim(findCall("c1"));
  streamed.closeAnswers();
  const second = streamed.claim(findCall("c2"));
  expect((await (await first)?.outcome)?.result.status).toBe("succeeded");
  expect((await (await second)?.outcome)?.result.status).toBe("succeeded");
  expect(log).toEqual(["read 1", "write 2"]);
});

test("an answer that the loop never executed ends with the run", async () => {
  const { streamed, run, count } = await open();
  const answer = streamed.openAnswer();
  answer.push(call("c2", "write", 2));
  answer.complete();
  run.end("completed");
  await settle();
  expect(count("tool.discarded")).toBe(1);
});

test("of a loop that starts calls one by one, only those run that it starts; then nothing starts early", async () => {
  const { streamed, log } = await open();
  const answer = streamed.openAnswer();
  answer.push(call("c1", "read", 1));
  answer.push(call("c2", "write", 2));
  answer.complete();
  expect(await streamed.claim(findCall("c1"))).toBeUndefined();
  expect(log).toEqual(["read 1"]);
  expect(await streamed.claim(findCall("c2"))).toBeUndefined();
  const next = streamed.openAnswer();
  next.push(call("c3", "read", 3));
  await settle();
  expect(log).toEqual(["read 1"]);
  next.complete();
  expect(await streamed.claim(findCall("c3"))).toBeUndefined();
});

test("a call that the loop has changed is executed as it is now", async () => {
  const { streamed, log } = await open();
  const answer = streamed.openAnswer();
  answer.push(call("c2", "write", 2));
  answer.complete();
  const changed = { ...call("c2", "write", 2), arguments: { id: 9 } };
  expect(await streamed.claim(changed)).toBeUndefined();
  expect(log).toEqual([]);
});

test("what a write that started early has changed is not done again", async () => {
  const { streamed, log } = await open({ config: { tools: { early_start: "all" } } });
  const answer = streamed.openAnswer();
  answer.push(call("c1", "read", 1));
  answer.push(call("c2", "write", 2));
  await settle();
  answer.complete();
  expect((await (await streamed.claim(findCall("c2")))?.outcome)?.result.status).toBe("succeeded");
  expect(log).toEqual(["read 1", "write 2"]);
});

test("two answers with one id do not get each other's results", async () => {
  const { streamed } = await open();
  const [first, second] = [streamed.openAnswer(), streamed.openAnswer()];
  first.push(call("c1", "read", 1));
  second.push(call("c1", "read", 2));
  first.complete();
  second.complete();
  const claimed = await streamed.claim(call("c1", "read", 1));
  expect((await claimed?.outcome)?.result.content).toEqual([{ type: "text", text: "note 1" }]);
  expect(await streamed.claim(call("c1", "read", 2))).toBeUndefined();
});

test("the end of an answer may have more calls than came before, in its order", async () => {
  const { streamed, log } = await open();
  const answer = streamed.openAnswer();
  answer.push(call("c1", "read", 1));
  answer.completeWith([call("c1", "read", 1), call("c2", "write", 2)]);
  await Promise.all([streamed.claim(findCall("c1")), streamed.claim(findCall("c2"))]);
  await settle();
  expect(log).toEqual(["read 1", "write 2"]);
});

test("an answer that ends with other calls is executed as it ended", async () => {
  const { streamed } = await open();
  const answer = streamed.openAnswer();
  answer.push(call("c1", "read", 1));
  answer.completeWith([call("c1", "read", 7)]);
  expect(await streamed.claim(call("c1", "read", 7))).toBeUndefined();
});

test("the signals of the request and of a call abort the whole turn", async () => {
  const { streamed } = await open();
  for (const isRequest of [true, false]) {
    const loop = new AbortController();
    const answer = streamed.openAnswer(isRequest ? loop.signal : undefined);
    const id = isRequest ? "c1" : "c2";
    answer.push(call(id, "wait", 1));
    answer.complete();
    const claimed = await streamed.claim(call(id, "wait", 1), isRequest ? undefined : loop.signal);
    loop.abort(new Error("the user pressed stop"));
    expect((await claimed?.outcome)?.result.status).toBe("aborted");
  }
});

test("progress from before the loop started the call is not lost", async () => {
  const { streamed } = await open();
  const answer = streamed.openAnswer();
  answer.push(call("c1", "read", 1));
  await settle();
  answer.complete();
  const claimed = await streamed.claim(findCall("c1"));
  const messages: unknown[] = [];
  claimed?.onProgress(({ message }) => messages.push(message));
  expect(messages).toEqual(["reading 1"]);
});

const CALLS = [call("c1", "read", 1), call("c2", "write", 2), call("c3", "read", 3)];

function findCall(id: string): StreamedCall {
  return CALLS.find((one) => one.id === id)!;
}

function call(id: string, verb: string, note: number): StreamedCall {
  return { id, name: `notes__${verb}`, arguments: JSON.stringify({ id: note }) };
}

async function open({
  isEarly = true,
  config = {},
}: { isEarly?: boolean; config?: { tools?: { early_start: "all" } } } = {}) {
  const log: string[] = [];
  const journal = createMemoryJournal();
  const policy = { rules: [{ tool: "notes.write", decision: "allow" as const }] };
  const run = await createKernel({ tools: defineNotes(log), config }).startRun({ journal, policy });
  const streamed = new StreamedCalls(run, createGate(run), { isEarly });
  const count = (type: string): number => journal.facts.filter((fact) => fact.type === type).length;
  return { streamed, log, run, count };
}

function defineNotes(log: string[]): AnyTool[] {
  const input_schema = {
    type: "object",
    properties: { id: { type: "integer" } },
    required: ["id"],
  } as const;
  const readonly = { permission: "readonly", concurrency_safe: true } as const;
  return [
    defineTool({
      name: "notes.read",
      description: "Read a note",
      input_schema,
      ...readonly,
      handler: ({ id }, { progress }) => {
        log.push(`read ${id}`);
        progress({ message: `reading ${id}` });
        return `note ${id}`;
      },
    }),
    defineTool({
      name: "notes.write",
      description: "Write a note",
      input_schema,
      handler: ({ id }) => {
        log.push(`write ${id}`);
        return `wrote ${id}`;
      },
    }),
    defineTool({
      name: "notes.wait",
      description: "Wait for ever",
      input_schema,
      ...readonly,
      handler: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
        }),
    }),
  ];
}

/** What was ready to run has run. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
