import { createKernel, type Fact, type Session } from "@soong/core";
import type { ServerFact } from "@soong/mcp";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createServerFacts } from "./servers.ts";

test("a run begins with how each server is by then, and receives changes until it ends; its children do not", async () => {
  verifies("MCP-2", "MCP-3");
  const facts = createServerFacts();
  const session = await createKernel().openSession();
  facts.watch(session);
  const { connected, failed } = SERVER_FACTS;
  facts.record(failed("a", "no"));
  facts.record(connected("a", 1));
  const first = await session.startRun({ run_id: "first" });
  const parent = { run_id: "first", agent_id: first.identity.agent_id };
  const child = await session.startRun({ run_id: "child", parent });
  const changed = { server_id: "a", tools: 2, added: ["x"], removed: [], changed: [] };
  facts.record({ type: "mcp.server.tools_changed", data: changed, level: "info" });
  facts.record(failed("b", "gone"));
  const request = {
    server_id: "a",
    run_id: "child",
    tool_call_id: "c",
    tool_name: "mcp.a.tool",
    method: "roots/list",
    outcome: "answered",
  };
  facts.record({ type: "mcp.server.host_request", data: request, level: "info" });
  child.end("completed");
  first.end("completed");
  facts.record(connected("b", 5));
  const second = await session.startRun({ run_id: "second" });
  second.end("completed");

  expect(await readServerFacts(session, "first")).toEqual([
    lineOf(connected("a", 1)),
    `info mcp.server.tools_changed ${JSON.stringify(changed)}`,
    lineOf(failed("b", "gone")),
  ]);
  // What a server asked during a call is the business of that call's run.
  expect(await readServerFacts(session, "child")).toEqual([
    `info mcp.server.host_request ${JSON.stringify(request)}`,
  ]);
  expect(await readServerFacts(session, "second")).toEqual([
    lineOf(connected("a", 2)),
    lineOf(connected("b", 5)),
  ]);
  // What else a run is, it is still.
  expect(second.identity.run_id).toBe("second");
  expect(second.surface.revision).toBeGreaterThan(0);
});

async function readServerFacts(session: Session, run_id: string): Promise<string[]> {
  const lines: string[] = [];
  await session.close();
  for await (const fact of session.facts()) {
    if (fact.run_id !== run_id || !fact.type.startsWith("mcp.server.")) continue;
    lines.push(lineOf(fact));
  }
  return lines;
}

const SERVER_FACTS = {
  connected: (server_id: string, tools: number): ServerFact => ({
    type: "mcp.server.connected",
    data: {
      server_id,
      era: "2026",
      protocol_version: "1",
      server_info: { name: server_id, version: "1" },
      tools,
      excluded: 0,
    },
    level: "info",
  }),
  failed: (server_id: string, message: string): ServerFact => ({
    type: "mcp.server.failed",
    data: { server_id, reason: "unreachable", message, tools: 0 },
    level: "warn",
  }),
};

function lineOf({ level, type, data }: Fact | ServerFact): string {
  return `${level} ${type} ${JSON.stringify(data)}`;
}
