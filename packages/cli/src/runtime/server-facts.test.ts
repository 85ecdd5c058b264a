import { createKernel, type Session } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createServerFacts } from "./server-facts.ts";

test("a run begins with how each server is by then, and hears of changes until it ends; its children do not", async () => {
  verifies("MCP-2", "MCP-3");
  const facts = createServerFacts();
  const opened = await createKernel().openSession();
  const session = facts.watched(opened);
  facts.record("mcp.server.failed", { server_id: "a", message: "no" }, "warn");
  facts.record("mcp.server.connected", { server_id: "a", tools: 1 }, "info");
  const first = await session.startRun({ run_id: "first" });
  const parent = { run_id: "first", agent_id: first.identity.agent_id };
  const child = await session.startRun({ run_id: "child", parent });
  facts.record("mcp.server.tools_changed", { server_id: "a", tools: 2, added: ["x"] }, "info");
  facts.record("mcp.server.failed", { server_id: "b", message: "gone" }, "warn");
  const request = { server_id: "a", run_id: "child", method: "roots/list", outcome: "answered" };
  facts.record("mcp.server.host_request", request, "info");
  child.end("completed");
  first.end("completed");
  facts.record("mcp.server.connected", { server_id: "b", tools: 5 }, "info");
  const second = await session.startRun({ run_id: "second" });
  second.end("completed");

  expect(await told(opened, "first")).toEqual([
    'info mcp.server.connected {"server_id":"a","tools":1}',
    'info mcp.server.tools_changed {"server_id":"a","tools":2,"added":["x"]}',
    'warn mcp.server.failed {"server_id":"b","message":"gone"}',
  ]);
  // What a server asked during a call is the business of that call's run.
  expect(await told(opened, "child")).toEqual([
    `info mcp.server.host_request ${JSON.stringify(request)}`,
  ]);
  expect(await told(opened, "second")).toEqual([
    'info mcp.server.connected {"server_id":"a","tools":2}',
    'info mcp.server.connected {"server_id":"b","tools":5}',
  ]);
  // What else a run is, it is still.
  expect(second.identity.run_id).toBe("second");
  expect(second.surface.revision).toBeGreaterThan(0);
});

async function told(session: Session, run_id: string): Promise<string[]> {
  const lines: string[] = [];
  await session.close();
  for await (const fact of session.facts()) {
    if (fact.run_id !== run_id || !fact.type.startsWith("mcp.server.")) continue;
    lines.push(`${fact.level} ${fact.type} ${JSON.stringify(fact.data)}`);
  }
  return lines;
}
