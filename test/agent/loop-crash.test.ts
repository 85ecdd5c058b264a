// A session that was left in the middle of an answer whose calls had begun (STORE-3): who continues reads what they did.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHeldClock, createKernel, defineTool, type AnyTool, type Session } from "@soong/core";
import { openStore, type OpenSession, type Store } from "@soong/store";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openConversation, readHistory } from "../../packages/agent/src/loop/index.ts";
import { calls, done, says, texts, writtenModel, type Answer } from "./loop-stage.ts";
import { ALLOW_ALL, readTool } from "./loop-tools.ts";

let directory: string;
let store: Store;
let writes: string[];
let hasWritten: () => void;
let written: Promise<void>;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "soong-crash-"));
  store = await openStore({ directory });
  writes = [];
  written = new Promise((resolve) => {
    hasWritten = resolve;
  });
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

/** The first write ends, the second never does, the read waits behind both. */
const TOOLS: readonly AnyTool[] = [
  defineTool({
    name: "a.write",
    description: "Write",
    input_schema: { type: "object", properties: { key: { type: "string", "x-sensitive": true } } },
    handler: (input) => {
      writes.push(JSON.stringify(input));
      if (writes.length === 1) return "written";
      hasWritten();
      return new Promise<string>(() => {});
    },
  }),
  readTool("a.read", () => "read"),
];

const CUT_OFF: Answer = [
  says("First "),
  says("this."),
  calls("a__write", { n: 1, text: 'a "b" \\ \n' }, "1"),
  says(" Then that."),
  calls("a__write", { n: 2 }, "2"),
  calls("a__read", "{", "3"),
  () => new Promise<void>(() => {}),
];

test("calls that acted before a crash are on the path again, each with its answer and its result", async () => {
  verifies("STORE-3", "LOOP-1", "CTX-3");
  const kept = await store.createSession({ session_id: "s1" });
  const left = await talk(await opened(kept), [[says("Hello."), done()], CUT_OFF]);
  await left.send("Hi");
  void left.send("Do it");
  await written;
  await kept.close();

  const again = await store.openSession("s1");
  expect(again.recovered).toMatchObject({ unknown: ["2"] });
  const lost = await again.reader.activePath(left.agent_id);
  expect(lost).toHaveLength(3);
  const found = await readHistory(again.reader, left.agent_id);
  expect(found.history).toHaveLength(7);
  expect(found.unrecorded).toEqual([found.history[3]]);
  expect(found.history[3]?.data).toMatchObject({ role: "assistant", unfinished: true });

  const session = await opened(again);
  // A run that never asked a model has nothing to do with it.
  const idle = await session.startRun({ agent_id: left.agent_id });
  idle.end("aborted");
  await session.recorder.flush();
  expect(await readHistory(again.reader, left.agent_id)).toEqual(found);
  const resumed = await talk(session, [[says("I will look."), done()]], found);
  expect((await resumed.send("Go on")).reason).toBe("completed");
  const said = texts(resumed.requests[0]?.messages ?? []);
  expect(said.slice(0, 4)).toEqual([
    "user: Hi",
    "assistant: Hello.",
    "user: Do it",
    "assistant: First this. Then that.<a__write><a__write><a__read>",
  ]);
  expect(said[4]).toMatch(/^tool: written \| .*may or may not have happened.* \| .+/s);
  expect(said.slice(5)).toEqual(["user: Go on"]);
  const sent = resumed.requests[0]?.messages[3];
  expect(sent?.role === "assistant" && sent.calls[0]).toEqual({
    tool_call_id: "1",
    name: "a__write",
    arguments: JSON.stringify({ n: 1, text: 'a "b" \\ \n' }),
  });
  expect(writes).toHaveLength(2);

  // Now it is on record: the tree is whole, and no one has to put it together again.
  const path = await again.reader.activePath(left.agent_id);
  expect(path.slice(0, 7)).toEqual(found.history);
  expect(path).toHaveLength(9);
  expect(await readHistory(again.reader, left.agent_id)).toEqual({ history: path, unrecorded: [] });
  await session.close();
  await again.close();
  expect(await store.verify("s1")).toMatchObject({ ok: true });
});

test("a conversation that was rewound continues from there", async () => {
  verifies("STORE-3", "STORE-2");
  const kept = await store.createSession({ session_id: "s1" });
  const left = await talk(await opened(kept), [[says("Hello."), done()], CUT_OFF]);
  await left.send("Hi");
  void left.send("Do it");
  await written;
  await kept.close();
  const again = await store.openSession("s1");
  const session = await opened(again);
  const [first, second] = await again.reader.activePath(left.agent_id);
  await again.rewind(session.recorder, second?.node_id ?? "");
  await session.recorder.flush();
  const found = await readHistory(again.reader, left.agent_id);
  expect(found).toEqual({ history: [first, second], unrecorded: [] });
  await session.close();
  await again.close();
});

test("an answer that was cut off before its first call, or has its end, is left as it is", async () => {
  verifies("STORE-3");
  const kept = await store.createSession({ session_id: "s1" });
  let begun = (): void => {};
  const streaming = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const left = await talk(await opened(kept), [
    [says("Hello."), done()],
    [says("Half"), () => begun(), () => new Promise<void>(() => {})],
  ]);
  await left.send("Hi");
  const ended = await readHistory(kept.reader, left.agent_id);
  expect(ended).toMatchObject({ history: [{}, {}], unrecorded: [] });
  void left.send("Do it");
  await streaming;
  await kept.close();
  const again = await store.openSession("s1");
  const found = await readHistory(again.reader, left.agent_id);
  expect(found).toMatchObject({ history: [{}, {}, {}], unrecorded: [] });
  expect(await readHistory(again.reader, "nobody")).toEqual({ history: [], unrecorded: [] });
  await again.close();
});

function opened(kept: OpenSession): Promise<Session> {
  const kernel = createKernel({ tools: TOOLS, config: { tools: { early_start: "all" } } });
  return kernel.openSession({ ...kept, policy: ALLOW_ALL });
}

async function talk(session: Session, answers: readonly Answer[], more: object = {}) {
  const model = writtenModel(createHeldClock(), answers);
  const conversation = await openConversation({ session, models: [model], ...more });
  return {
    agent_id: conversation.agent_id,
    requests: model.requests,
    send: (prompt: string) => conversation.send(prompt).end,
  };
}
