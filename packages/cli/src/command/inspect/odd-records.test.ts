// Records that no version wrote like this, in one session: they take nothing from the page that is not theirs.

import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";
import { readSentRequest } from "@soong/agent";
import { serveInspector } from "@soong/inspector";
import type { Store } from "@soong/store";
import { createFactWriter } from "../../../../../test/inspector/served-home.ts";
import { loadConfig } from "../../config/index.ts";
import { openHomeStore } from "../../runtime/home.ts";
import type { InspectedHome } from "./inspected-home.ts";
import { readPlaygroundHistory } from "./playground-history.ts";
import { createPolicyPort } from "./policy.ts";
import { createSummaryPort } from "./summaries.ts";
import { createWhatIfPort } from "./what-if.ts";

const TOKEN = "a-token-of-this-test-0123456789";
const RULE = { layer: "rules", rule: "rules[0]", verdict: "allow", decisive: true };
const ODD = [null, 5, "x", true, [], {}, [null], [[1]], { a: null }, [{ decision: 5, tool: {} }]];
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "run.started": ["policy", "definitions", "mode", "tools"],
  "model.started": ["model", "attempt", "parent_node_id", "settings", "sent", "system"],
  "context.resolved": ["messages", "parts", "node_id", "system"],
  "model.failed": ["usage", "cost", "node_id", "error", "received"],
  "model.completed": ["usage", "cost", "node_id", "stop", "calls", "received"],
  "tool.requested": ["model_input", "model_input_chars", "definition"],
  "permission.evaluated": ["decision", "chain", "resources", "scopes"],
  "tool.failed": ["result", "error", "node_id"],
  "tool.completed": ["result", "node_id", "duration_ms"],
  "tool.catalog.resolved": ["revision", "tools", "definitions"],
  "run.completed": ["status", "reason", "usage", "node_id"],
};

let folder: string;
let place: InspectedHome;
let store: Store;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "soong-odd-")));
  const home = join(folder, "home");
  const cwd = join(folder, "project");
  await mkdir(cwd);
  const config = (): ReturnType<typeof loadConfig> => loadConfig({ home });
  place = { env: { HOME: folder, SOONG_AGENT_HOME: home }, home, cwd, config, note: () => {} };
  store = await openHomeStore(place);
});

afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

test("odd records leave every view of the home as it is, and their own session can be looked at", async () => {
  verifies("UI-1");
  const sessions = await Promise.all([...ODD, [RULE]].map(keepOdd));
  const { signal } = new AbortController();
  const policy = createPolicyPort(store, place);
  const whatIf = createWhatIfPort(store, place);
  const summaries = createSummaryPort(store);
  expect((await policy.matches(signal)).sessions).toBe(sessions.length);
  expect((await readPlaygroundHistory(store)).calls).toEqual([]);
  const fields = { tool: "code.*", decision: "deny" };
  expect((await whatIf.all({ rule: { fields } }, signal)).groups).toEqual([]);
  const { home, cwd } = place;
  const ports = { summaries, policy, whatIf, readRequest: readSentRequest };
  const served = await serveInspector({ store, ports, home, cwd, version: "1", token: TOKEN });
  const paths = sessions.flatMap(({ session_id, n }) => [
    `/api/changes?session_id=${session_id}`,
    ...[
      "facts?offset=0&limit=100",
      "facts/3",
      "runs",
      `runs/run_${n}/record`,
      `runs/run_${n}/surface`,
      `runs/run_${n}/search?q=a`,
      `runs/run_${n}/requests/1`,
      `runs/run_${n}/requests/1/parts/system:0`,
      "calls/call_1",
      `conversation?agent_id=agent_${n}`,
      "nodes/node_1",
    ].map((path) => `/api/sessions/${session_id}/${path}`),
  ]);
  for (const path of [...paths, "/api/home?since=2020", "/api/sessions", "/api/search?q=a"]) {
    const answered = await fetch(`http://127.0.0.1:${served.port}${path}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const text = await answered.text();
    expect([path, answered.status < 500 ? "" : text]).toEqual([path, ""]);
  }
  await served.close();
});

async function keepOdd(odd: unknown, n: number) {
  const kept = await store.createSession({ title: "playground", project: place.cwd });
  const writer = createFactWriter(kept);
  const about = { run_id: `run_${n}`, agent_id: `agent_${n}` };
  const call = { ...about, tool_call_id: "call_1", tool_name: "code.read_file" };
  const node = { ...writer.node({ node_id: "node_1", ...about }), content: odd, data: odd };
  for (const [type, fields] of Object.entries(FIELDS)) {
    const data = { request: 1, ...Object.fromEntries(fields.map((field) => [field, odd])) };
    writer.add({ type, ...call, data }, type === "run.started" ? [node as never] : undefined);
  }
  await kept.close();
  return { session_id: kept.session_id, n };
}
