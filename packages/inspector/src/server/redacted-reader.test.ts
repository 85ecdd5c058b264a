import { createRedactor } from "@soong/core";
import { afterEach, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  createFactWriter,
  keepSession,
  problemIn,
  serveHome,
} from "../../../../test/inspector/served-home.ts";
import type { CallStory, Conversation } from "../wire/session-records.ts";

const SECRET = "correct-horse-battery-staple-of-mine";
const redactor = createRedactor({ secrets: [{ name: "PASSPHRASE", value: SECRET }] });
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

test("a secret that was recorded before it was known is hidden before a text is cut in it", async () => {
  verifies("REDACT-3");
  const home = await serveHome({ redactor });
  closing.push(() => home.close());
  const one = await keepSession(home.store);
  closing.unshift(() => one.close());
  const run = await one.session.startRun();
  const text = `${"x".repeat(19_985)} ${SECRET} and more`;
  const summary = `${"y".repeat(140)} ${SECRET}`;
  await run.execute(
    [text, summary].map((said) => ({
      name: "test.echo",
      arguments: JSON.stringify({ text: said }),
    })),
  );
  run.end("completed");
  await one.session.recorder.flush();
  const { session_id } = one.kept;
  const [agent] = await one.kept.reader.agents();
  const at = `/api/sessions/${session_id}`;
  const shown = await home.get<Conversation>(
    `${at}/conversation?agent_id=${agent?.agent_id ?? ""}`,
  );
  const calls = await one.kept.reader.calls();
  const stories = await Promise.all(
    calls.map((call) => home.get<CallStory>(`${at}/calls/${call.tool_call_id}`)),
  );
  const changes = await home.get(`/api/changes?session_id=${session_id}`);
  const answers = JSON.stringify([shown, stories, changes]);
  expect(answers).toContain("x".repeat(19_000));
  expect(answers).toContain("y".repeat(100));
  expect(answers).not.toContain(SECRET.slice(0, 10));
});

test("a model request shows no half of a secret, and is still known to be the one that was sent", async () => {
  verifies("REDACT-3");
  const said: unknown[] = [];
  const system = `${"z".repeat(140)} ${SECRET} and more`;
  const home = await serveHome({
    redactor,
    ports: {
      async readRequest(reader) {
        said.push(await reader.path("node_1"));
        const request = { system: [system], tools: [], messages: [] };
        return { request: request as never, isExact: true };
      },
    },
  });
  closing.push(() => home.close());
  const kept = await home.store.createSession({ title: "asked" });
  closing.unshift(() => kept.close());
  const writer = createFactWriter(kept);
  const about = { run_id: "run_1", agent_id: "agent_1" };
  const node = writer.node({ node_id: "node_1", ...about }, SECRET);
  writer.add({ type: "run.started", ...about, data: {} }, [node]);
  writer.add({ type: "model.started", ...about, data: { request: 1, attempt: 1, model: "m" } });
  const failed = { request: 1, attempt: 1, error: { code: "x", message: SECRET } };
  writer.add({ type: "model.failed", ...about, data: failed });
  await kept.journal.flush();
  const at = `/api/sessions/${kept.session_id}/runs/run_1/requests/1`;
  const [story, part] = await Promise.all([home.ask(at), home.ask(`${at}/parts/system:0`)]);
  expect(story.json()).toMatchObject({ sent: { state: "exact" } });
  expect(part.text).toContain("PASSPHRASE");
  expect(story.text + part.text).not.toContain(SECRET.slice(0, 10));
  // It is compared as it was recorded.
  expect(JSON.stringify(said)).toContain(SECRET);
});

test("a problem shows no secret either", async () => {
  verifies("REDACT-3");
  const home = await serveHome({ redactor });
  closing.push(() => home.close());
  const answered = await home.ask(`/api/sessions/${SECRET}/runs`);
  expect(answered.status).toBe(404);
  expect(problemIn(answered).error.message).toMatch(/^There is no session .*PASSPHRASE/);
  expect(answered.text).not.toContain(SECRET);
});
