// What a model was sent and what it answered, from the record alone (MODEL-7): held against every request that a model
// really received.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  createHeldClock,
  createKernel,
  defineTool,
  toolResult,
  type Fact,
  type HeldClock,
} from "@soong/core";
import {
  createAgents,
  loadAgentCatalog,
  openConversation,
  readHistory,
  readSentRequest,
  type LoopOptions,
  type Model,
  type ModelRequest,
} from "@soong/agent";
import { openStore, type OpenSession, type SessionReader, type Store } from "@soong/store";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test } from "vitest";
import { noRoom, server } from "../core/sources.ts";
import { calls, done, failed, says, writtenModel, type Answer } from "./loop-stage.ts";
import { ALLOW_ALL } from "./loop-tools.ts";

let directory: string;
let store: Store;
let captured: ModelRequest[];
let onWrite: () => void;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "soong-sent-"));
  store = await openStore({ directory });
  captured = [];
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

const SECRET = "5up3r-s3cr3t-value";

const LONG = "found ".repeat(60);

const find = defineTool({
  name: "a.find",
  description: "Find",
  input_schema: { type: "object" },
  permission: "readonly",
  concurrency_safe: true,
  always_load: true,
  handler: () =>
    toolResult({
      content: [
        { type: "text", text: `${LONG}${SECRET}` },
        { type: "json", json: { b: [1, { "\u2028": "\ud800" }], a: null } },
        { type: "resource_link", uri: "https://example.org/a" },
      ],
      context_nodes: [{ kind: "instruction_context", text: "Use tabs.", data: { path: "/a" } }],
    }),
});

const write = defineTool({
  name: "a.write",
  description: "Write, and never come back",
  input_schema: { type: "object" },
  always_load: true,
  handler: () => {
    onWrite();
    return new Promise<string>(() => {});
  },
});

test("every request can be put together again exactly, whatever happened before it", async () => {
  verifies("MODEL-7");
  const kept = await store.createSession({ session_id: "s1" });
  let state = 0;
  const first = await open(kept, {
    board: async () => (state < 3 ? `State ${(state += 1)}` : state < 5 ? `State ${state++}` : ""),
    answers: [
      [
        calls("internal__search_tools", { query: "select:mcp.s.deep,agent.create_sub_agent" }, "1"),
        done("tool_use"),
      ],
      [says("Half a tho"), failed("overloaded")],
      [
        says("Looking."),
        calls("a__find", { key: SECRET }, "2"),
        calls("mcp__s__deep", {}, "3"),
        done("tool_use"),
      ],
      [calls("a__find", "{", "4"), calls("a__find", {}, "5"), provider({ signature: "abc" })],
      [failed("quota")],
      // The other model, which has no use for the signature.
      [says("By another."), calls("a__find", {}, "6"), done("tool_use")],
      [failed("prompt_too_long")],
      [says("We looked, and found."), done()],
      [
        calls(
          "agent__create_sub_agent",
          { agent_definition_id: "helper", task: "Help", context: "None." },
          "7",
        ),
        done("tool_use"),
      ],
      [calls("a__find", {}, "8"), done("tool_use")],
      [says("Helped."), done()],
      [says("All done."), done()],
      [says("And more "), done("max_tokens")],
      [calls("a__write", {}, "9"), () => new Promise<void>(() => {})],
    ],
  });
  expect(await first.send(`Look for ${SECRET}`)).toMatchObject({ reason: "completed" });
  expect(await first.send("More")).toMatchObject({ reason: "max_output_tokens" });
  const isWriting = new Promise<void>((resolve) => {
    onWrite = resolve;
  });
  void first.conversation.send("Write it");
  await isWriting;
  await kept.close();

  const again = await store.openSession("s1");
  const found = await readHistory(again.reader, first.conversation.agent_id);
  expect(found.unrecorded).toHaveLength(1);
  const second = await open(again, {
    ...found,
    limits: { max_output_tokens: 500 },
    answers: [
      [says("It may have happened."), done()],
      [failed("prompt_too_long")],
      [failed("authentication")],
    ],
  });
  expect(await second.send("Go on")).toMatchObject({ reason: "completed" });
  await second.send("And on");
  await second.session.close();
  await again.close();

  expect(captured).toHaveLength(17);
  const sent = await readSent("s1");
  expect(sent.filter(({ isExact }) => !isExact)).toEqual([]);
  expect(sent.map(({ request }) => request)).toEqual(captured);
  expect(JSON.stringify(captured)).not.toContain(SECRET);
});

test("what does not fit is omitted in what is put together again, too", async () => {
  verifies("MODEL-7");
  const kept = await store.createSession({ session_id: "s1" });
  const many = Array.from({ length: 8 }, (_, i) => [
    says("Looking."),
    calls("a__find", { i }, `c${i}`),
    done("tool_use"),
  ]);
  const { send, session } = await open(kept, {
    system: ["Be brief."],
    limits: { context_tokens: 700, max_turns: 30 },
    // A summary that is none: from then on requests are trimmed.
    answers: [...many.slice(0, 3), [done()], ...many.slice(3), [says("Done."), done()]],
  });
  expect(await send("Look")).toMatchObject({ reason: "completed" });
  await session.close();
  await kept.close();
  const sent = await readSent("s1");
  expect(sent.map(({ request }) => request)).toEqual(captured);
  const omitted = captured.filter(({ messages }) =>
    JSON.stringify(messages[0]).includes("were omitted"),
  );
  expect(omitted.length).toBeGreaterThan(2);
});

test("each text is kept once in a session, by whichever process", async () => {
  verifies("MODEL-7");
  const turns = Array.from({ length: 20 }, (_, i): Answer => [
    calls("a__find", { i }, `c${i}`),
    done("tool_use"),
  ]);
  for (let process = 0; process < 3; process += 1) {
    const kept =
      process === 0
        ? await store.createSession({ session_id: "s1" })
        : await store.openSession("s1");
    const { send, session } = await open(kept, {
      system: ["Be brief."],
      limits: { max_turns: 30 },
      answers: [...turns, [says("Done."), done()]],
    });
    expect(await send("Look")).toMatchObject({ reason: "completed" });
    await session.close();
    await kept.close();
  }
  const reader = await store.readSession("s1");
  const names = (await reader.artifacts()).map(({ name }) => name);
  // The first result brings instructions along, which are system text.
  expect(new Set(names)).toEqual(new Set(["definitions.json", "system.json", "tools.json"]));
  expect(names.filter((name) => name === "system.json")).toHaveLength(2);
  expect(names).toHaveLength(4);
  expect(await store.verify("s1", { artifacts: true })).toMatchObject({ ok: true });
  expect((await readSent("s1")).map(({ request }) => request)).toEqual(captured);
});

test("a record that was changed, or is in part gone, is not passed off as what was sent", async () => {
  verifies("MODEL-7");
  const kept = await store.createSession({ session_id: "s1" });
  const { send, session } = await open(kept, {
    system: ["Be brief."],
    answers: [[says("Yes."), done()]],
  });
  await send("Look");
  await session.close();
  await kept.close();
  const reader = await store.readSession("s1");
  const [recorded] = await readRecorded(reader);
  if (recorded === undefined) throw new Error("there is no request");
  const gone = await readSentRequest(
    { ...readsOf(reader), readArtifact: async () => undefined },
    recorded,
  );
  expect(gone).toEqual({ problem: "Not on record of this request: system texts, tools." });
  const changed = await readSentRequest({ ...readsOf(reader), path: async () => [] }, recorded);
  expect(changed).toMatchObject({ isExact: false, request: { messages: [] } });
  const { digest: _, ...old } = recorded.started;
  expect(await readSentRequest(readsOf(reader), { ...recorded, started: old })).toBeUndefined();
});

test("what came back is on record whole, also of an attempt that failed in the middle", async () => {
  verifies("MODEL-7");
  const kept = await store.createSession({ session_id: "s1" });
  const { send, session, clock } = await open(kept, {
    answers: [
      [
        { wait: 300 },
        { type: "reasoning_delta", text: `First ${SECRET}, ` },
        { type: "reasoning_delta", text: "then that." },
        says("I lo"),
        calls("a__find", { n: 1 }, "1"),
        { type: "call_delta", key: "2", name: "a__find", arguments: '{"n' },
        { type: "call_delta", key: "2", arguments: '": 2' },
        failed("disconnect"),
      ],
      [
        { type: "reasoning_delta", text: "Again." },
        { type: "call_delta", key: "3", name: "a__find", arguments: "{ }" },
        calls("a__find", "{ }", "3"),
        done("tool_use"),
      ],
      [{ wait: 20 }, says("Done."), done()],
    ],
  });
  await send("Look");
  await session.close();
  await kept.close();
  expect(clock.pending).toBe(0);
  const reader = await store.readSession("s1");
  const facts = await reader.facts();
  const [broken] = facts.filter(({ type }) => type === "model.failed") as Fact<"model.failed">[];
  expect(broken?.data).toMatchObject({
    first_token_ms: 300,
    received: {
      text: "I lo",
      reasoning: expect.stringMatching(/^First \[redacted.*\], then that\.$/) as string,
      calls: [{ tool_call_id: "1", name: "a__find", arguments: '{"n":1}' }],
      partial_calls: [{ name: "a__find", arguments: '{"n": 2' }],
    },
  });
  const ended = facts.filter(({ type }) => type === "model.completed") as Fact<"model.completed">[];
  expect(
    ended.map(({ data: { received, first_token_ms } }) => ({ received, first_token_ms })),
  ).toEqual([
    { received: { reasoning: "Again." }, first_token_ms: 0 },
    { received: undefined, first_token_ms: 20 },
  ]);
  const node = await reader.node(ended[0]?.data.node_id ?? "");
  expect(node?.data?.["calls"]).toEqual([{ tool_call_id: "3", name: "a__find", arguments: "{ }" }]);
});

function provider(provider_data: object) {
  return { ...done("tool_use"), provider_data } as ReturnType<typeof done>;
}

/** Remembers what it is sent as it is then. */
function capture(model: Model): Model {
  return {
    ...model,
    stream(request, signal) {
      captured.push(JSON.parse(JSON.stringify(request)) as ModelRequest);
      return model.stream(request, signal);
    },
  };
}

interface Opened {
  readonly answers: readonly Answer[];
}

async function open(kept: OpenSession, { answers, ...options }: Opened & Partial<LoopOptions>) {
  const clock = createHeldClock(Date.UTC(2026, 0, 1));
  const agents = createAgents({
    catalog: await loadAgentCatalog({
      code: [
        { id: "helper", description: "Helps.", system: "You help.", allowed_tools: ["a.find"] },
      ],
    }),
    childTimeoutMs: 3_600_000,
  });
  const kernel = createKernel({
    tools: [find, write],
    sources: [server("s", ["deep", "deeper"]), agents.source],
    config: { tools: { ...noRoom.tools, early_start: "all" } },
    clock,
  });
  const session = await kernel.openSession({
    ...kept,
    policy: ALLOW_ALL,
    secrets: [{ name: "KEY", value: SECRET }],
  });
  const model = writtenModel(clock, answers, "test:one");
  const other: Model = { ...model, id: "test:two" };
  const conversation = await openConversation({
    session,
    models: [capture(model), capture(other)],
    clock,
    runRegistry: agents.activeRuns,
    ...options,
  });
  return {
    clock,
    session,
    conversation,
    send: (prompt: string) => driveOnDisk(clock, conversation.send(prompt).end),
  };
}

/** Moves time on between two looks at the disk. */
async function driveOnDisk<T>(clock: HeldClock, work: Promise<T>): Promise<T> {
  const state = { open: true };
  const close = (): void => {
    state.open = false;
  };
  work.then(close, close);
  while (state.open) {
    await nextTurn();
    await clock.advance(10);
  }
  return work;
}

function readsOf(reader: SessionReader) {
  return {
    path: (node_id: string) => reader.path(node_id),
    readArtifact: (artifact_id: string) => reader.readArtifact(artifact_id),
  };
}

async function readRecorded(reader: SessionReader) {
  const facts = await reader.facts({ limit: 100_000 });
  return facts.flatMap((fact) => {
    if (fact.type !== "model.started") return [];
    const run_id = fact.run_id ?? "";
    const contexts = facts.flatMap((one) =>
      one.type === "context.resolved" && one.run_id === run_id ? [one.data] : [],
    );
    return [{ run_id, started: fact.data, contexts }];
  });
}

async function readSent(session_id: string) {
  const reader = await store.readSession(session_id);
  const recorded = await readRecorded(reader);
  const sent = await Promise.all(recorded.map((one) => readSentRequest(reader, one)));
  return sent.map((one) => {
    if (one === undefined || "problem" in one) throw new Error(one?.problem ?? "not recorded");
    return one;
  });
}
