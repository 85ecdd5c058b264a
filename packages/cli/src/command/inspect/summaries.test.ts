import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "@soong/store";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFactWriter } from "../../../../../test/inspector/served-home.ts";
import { createSummaryPort } from "./summaries.ts";

let directory: string;
let store: Store;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "soong-summaries-"));
  store = await openStore({ directory });
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

const USD = { currency: "USD", micros: 250_000 };

interface WrittenRun {
  readonly at: string;
  readonly requests?: readonly { at: string; cost?: object | null }[];
  readonly calls?: readonly [tool: string, status: string][];
  readonly end?: readonly [type: string, at: string, data?: object];
}

async function write(session_id: string, title: string, project: string, run: WrittenRun) {
  const session = await store.createSession({ session_id, title, project });
  const writer = createFactWriter(session);
  const ids = { run_id: `run_${session_id}`, agent_id: "a" };
  const usage = { input_tokens: 100, output_tokens: 10 };
  writer.add({ ...ids, type: "run.started", time: run.at, data: { role: "main", mode: "normal" } });
  const requests = run.requests ?? [];
  for (const [i, { at, cost = USD }] of requests.entries()) {
    const asked = { request: i + 1, attempt: 1, model: `model-${i + 1}` };
    writer.add({ ...ids, type: "model.started", time: at, data: asked });
    writer.add({ ...ids, type: "model.completed", time: at, data: { ...asked, usage, cost } });
  }
  for (const [i, [tool_name, status]] of (run.calls ?? []).entries()) {
    const call = { ...ids, tool_name, tool_call_id: `c${i}`, time: run.at };
    const result = {
      tool_call_id: `c${i}`,
      tool_name,
      status,
      content: [],
      summary: "no such file",
    };
    writer.add({ ...call, type: "tool.requested", data: { index: i } });
    writer.add({
      ...call,
      type: status === "failed" ? "tool.failed" : "tool.completed",
      data: { result },
    });
  }
  if (run.end !== undefined) {
    const [type, time, data = {}] = run.end;
    const priced = requests.filter(({ cost = USD }) => cost !== null).length;
    const total = {
      requests: requests.length,
      untold: 0,
      unpriced: requests.length - priced,
      cost: priced === 0 ? null : [{ currency: "USD", micros: priced * USD.micros }],
      input_tokens: requests.length * 100,
      output_tokens: requests.length * 10,
    };
    writer.add({ ...ids, type, time, data: { usage: total, ...data } });
  }
  await session.close();
}

const at = (hour: number, minute = 0): string =>
  new Date(Date.UTC(2026, 2, 1, hour, minute)).toISOString();

test("a session is summed up by its kind, model, calls, duration and why it failed", async () => {
  verifies("EVENT-7");
  await write("talk", "soong call me later", "/shop", {
    at: at(1),
    requests: [{ at: at(1, 1) }, { at: at(1, 2), cost: null }],
    calls: [
      ["code.read_file", "succeeded"],
      ["code.read_file", "failed"],
      ["code.search", "denied"],
    ],
    end: [
      "run.failed",
      at(1, 3),
      { error: { code: "model_failed", message: "it was overloaded" } },
    ],
  });
  await write("call", "soong call code.read_file", "/shop", {
    at: at(2),
    calls: [["code.read_file", "failed"]],
    end: ["run.failed", at(2), { reason: "failed" }],
  });
  await write("try", "playground", "/shop", { at: at(3), end: ["run.completed", at(3)] });
  await write("gate", "soong mcp serve of /shop", "/shop", { at: at(4) });
  const records = await store.sessions();
  const summaries = new Map(
    (await createSummaryPort(store).summarize(records)).map((summary, i) => [
      records[i]?.session_id,
      summary,
    ]),
  );
  expect(summaries.get("talk")).toEqual({
    status: "failed",
    reason: "it was overloaded",
    kind: "conversation",
    turns: 1,
    model: "model-2",
    worked_ms: 180_000,
    usage: {
      requests: 2,
      untold: 0,
      unpriced: 1,
      cost: [USD],
      input_tokens: 200,
      output_tokens: 20,
    },
    calls: 3,
    failed_calls: 1,
    tools: ["code.read_file", "code.search"],
    worker_of: undefined,
  });
  expect(summaries.get("call")).toMatchObject({
    kind: "call",
    reason: "code.read_file: no such file",
    model: undefined,
  });
  expect(summaries.get("try")).toMatchObject({ kind: "playground", status: "done" });
  expect(summaries.get("gate")).toMatchObject({ kind: "gateway", status: "interrupted" });
});

test("what was used since a time has the requests since then, also of runs that began before, by project", async () => {
  verifies("EVENT-7");
  const midnight = at(12);
  await write("over", "x", "/old", {
    at: at(1),
    requests: [{ at: at(1) }],
    end: ["run.completed", at(2)],
  });
  await write("across", "x", "/shop", {
    at: at(11),
    requests: [{ at: at(11, 30) }, { at: at(12, 30) }],
    end: ["run.completed", at(13)],
  });
  await write("open", "x", "/shop", {
    at: at(11),
    requests: [{ at: at(11) }, { at: at(13), cost: null }],
  });
  await write("within", "x", "/yard", {
    at: at(12),
    requests: [{ at: at(12) }],
    end: ["run.completed", at(12)],
  });
  await write("call", "soong call x", "/else", { at: at(13), end: ["run.completed", at(13)] });
  const used = await createSummaryPort(store).usedSince(await store.sessions(), midnight);
  expect(used.total).toMatchObject({ requests: 3, unpriced: 1, input_tokens: 300 });
  expect(used.total.cost).toEqual([{ currency: "USD", micros: 500_000 }]);
  expect(
    used.projects.map(({ project, sessions, usage }) => [project, sessions, usage.requests]),
  ).toEqual([
    ["/shop", 2, 2],
    ["/yard", 1, 1],
  ]);
});
