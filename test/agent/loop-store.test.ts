// The loop on a session that is kept (STORE-2, STORE-3): resumed, it sends what it would have sent, and repeats nothing.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHeldClock, createKernel, defineTool, type AnyTool, type Session } from "@soong/core";
import { openStore, type OpenSession, type Store } from "@soong/store";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openConversation, type LoopOptions } from "../../packages/agent/src/loop/index.ts";
import { calls, done, failed, says, texts, writtenModel, type Answer } from "./loop-stage.ts";
import { ALLOW_ALL, readTool } from "./loop-tools.ts";

let directory: string;
let store: Store;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "soong-loop-"));
  store = await openStore({ directory });
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

test("a resumed conversation reads exactly what the live one did", async () => {
  verifies("LOOP-1", "REDACT-1", "CTX-2", "STORE-2");
  const secret = "5up3r-s3cr3t-value";
  const tools = [readTool("a.read", () => `found ${secret}`)];
  const kept = await store.createSession({ session_id: "s1" });
  const first = await opened(kept, tools, secret);
  const live = await talk(first, [
    [says("Looking."), calls("a__read", { key: secret }, "1"), done("tool_use")],
    [says("Found."), done()],
    [says("Again."), failed("prompt_too_long")],
    [says("We looked and found."), done()],
    [calls("a__read", {}, "2"), calls("no__such", "{", "3"), done("tool_use")],
    [says("Yes."), done()],
    [says("never"), done()],
  ]);
  expect((await live.send(`Find ${secret}`)).answer).toBe("Found.");
  expect((await live.send("And again")).answer).toBe("Yes.");
  await live.send("Last");
  const before = live.requests.at(-1)?.messages ?? [];
  await first.close();
  await kept.close();

  const again = await store.openSession("s1");
  expect(again.recovered.runs).toEqual([]);
  const second = await opened(again, tools, secret);
  const history = await again.reader.activePath(live.agent_id);
  const resumed = await talk(second, [[says("ok"), done()]], { history });
  expect(resumed.agent_id).toBe(live.agent_id);
  await resumed.send("Go on");
  const after = resumed.requests[0]?.messages ?? [];
  expect(after.slice(0, before.length)).toEqual(before);
  expect(texts(after.slice(before.length))).toEqual(["assistant: never", "user: Go on"]);
  expect(JSON.stringify(after)).not.toContain(secret);
  const path = await again.reader.activePath(live.agent_id);
  expect(path.slice(0, history.length)).toEqual(history);
  expect(path).toHaveLength(history.length + 2);
  await second.close();
  await again.close();
  expect(await store.verify("s1")).toMatchObject({ ok: true });
  const reader = await store.readSession("s1");
  expect((await reader.runs()).map(({ status }) => status)).toEqual(Array(4).fill("completed"));
});

test("a session that was interrupted during a write reports it to the model and does not write again", async () => {
  verifies("LOOP-1", "STORE-3");
  let writes = 0;
  let begun = (): void => {};
  const started = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const write = defineTool({
    name: "a.write",
    description: "Write, and never come back",
    input_schema: { type: "object" },
    handler: () => {
      writes += 1;
      begun();
      return new Promise<string>(() => {});
    },
  });
  const kept = await store.createSession({ session_id: "s1" });
  const left = await talk(await opened(kept, [write]), [
    [says("Writing."), calls("a__write", {}, "1"), done("tool_use")],
  ]);
  void left.send("Write it");
  await started;
  await kept.close();

  const again = await store.openSession("s1");
  expect(again.recovered.unknown).toEqual(["1"]);
  const history = await again.reader.activePath(left.agent_id);
  const session = await opened(again, [write]);
  const resumed = await talk(session, [[says("I will check."), done()]], { history });
  expect((await resumed.send("Go on")).reason).toBe("completed");
  const [asked, answered, result, next] = texts(resumed.requests[0]?.messages ?? []);
  expect([asked, answered, next]).toEqual([
    "user: Write it",
    "assistant: Writing.<a__write>",
    "user: Go on",
  ]);
  expect(result).toContain("may or may not have happened");
  expect(writes).toBe(1);
  await session.close();
  await again.close();
});

test("a store that is gone ends the run as failed", async () => {
  verifies("LOOP-1");
  const kept = await store.createSession({ session_id: "s1" });
  const session = await opened(kept, []);
  await kept.close();
  const talked = await talk(session, [[says("ok"), done()]]);
  expect(await talked.send("Hello")).toMatchObject({
    reason: "failed",
    error: { code: "journal_unavailable" },
  });
  expect(talked.requests).toEqual([]);
});

function opened(kept: OpenSession, tools: readonly AnyTool[], secret?: string): Promise<Session> {
  const secrets = secret === undefined ? [] : [{ name: "KEY", value: secret }];
  return createKernel({ tools }).openSession({ ...kept, secrets, policy: ALLOW_ALL });
}

async function talk(
  session: Session,
  answers: readonly Answer[],
  options: Partial<LoopOptions> = {},
) {
  const model = writtenModel(createHeldClock(), answers);
  const conversation = await openConversation({ session, models: [model], ...options });
  return {
    agent_id: conversation.agent_id,
    requests: model.requests,
    send: (prompt: string) => conversation.send(prompt).end,
  };
}
