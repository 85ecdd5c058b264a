// The client side of the official conformance suite (MCP-9): one scenario's server, reached as the program
// reaches any server of the user's. Run by the suite, which appends the server's address:
// `node scripts/run.mjs test/mcp/conformance/client.ts URL`.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, type ToolResult } from "@soong/core";
import {
  createPins,
  logInToServer,
  openConnection,
  openMcpLogins,
  openMcpServers,
  openPinFile,
  parseMcpSettings,
  type McpLogins,
  type McpServerEntry,
} from "@soong/mcp";
import { plannedCalls, scenarioSettings } from "./client-scenarios.ts";

const READY_MS = 20_000;
/** The user who is sent to log in again and again stops some time. */
const MAX_LOGINS = 3;

const { MCP_CONFORMANCE_SCENARIO: scenario = "", MCP_CONFORMANCE_CONTEXT: context = "{}" } =
  process.env;
const url = process.argv[2] ?? "";
const home = await mkdtemp(join(tmpdir(), "soong-conformance-"));
try {
  const problem = await runScenario(entryOf(scenarioSettings(scenario, url, context)));
  if (problem !== undefined) {
    say(problem);
    process.exitCode = 1;
  }
} finally {
  await rm(home, { recursive: true, force: true });
}

function entryOf({ entry, environment }: ReturnType<typeof scenarioSettings>): McpServerEntry {
  const text = JSON.stringify({ mcpServers: { conformance: entry } });
  const parsed = parseMcpSettings(text, "mcp.json", environment);
  const server = parsed.ok ? parsed.servers[0] : undefined;
  if (server === undefined) throw new Error(JSON.stringify(parsed));
  return server;
}

/** As a user would: run; where told to log in, log in and run again. What went wrong at last, if anything did. */
async function runScenario(entry: McpServerEntry): Promise<string | undefined> {
  const logins = openMcpLogins(join(home, "mcp-logins"));
  for (let count = 0; ; count += 1) {
    const problem = await runOnce(entry, logins);
    const wantsLogin = problem?.includes("soong mcp login") === true;
    if (!wantsLogin || count === MAX_LOGINS) return problem;
    say(problem);
    try {
      await logInToServer(entry, { logins, show: visit });
    } catch (error) {
      return (error as Error).message;
    }
  }
}

/** What a browser does in which everyone says yes. */
async function visit(address: string): Promise<void> {
  await (await fetch(address)).text();
}

async function runOnce(entry: McpServerEntry, logins: McpLogins): Promise<string | undefined> {
  const kernel = createKernel();
  const servers = openMcpServers({
    entries: [entry],
    registry: kernel.registry,
    pins: await createPins(openPinFile(join(home, "mcp-pins.json"))),
    connect: (one) => openConnection(one, { canElicit: true, logins }),
  });
  try {
    await servers.ready(new AbortController().signal, READY_MS);
    const [status] = servers.status();
    if (status?.state !== "connected") return status?.message ?? "it did not answer";
    for (const left of status.excluded) say(`left out: ${left.tool_name}: ${left.detail}`);
    const run = await kernel.startRun({
      ask: () => ({ decision: "allow_once" }),
      elicit: () => ({ action: "accept", content: {} }),
    });
    const { tools } = kernel.registry.snapshot();
    const offered = status.tools.map((name) => ({
      name,
      schema: tools.get(name)?.definition.input_schema,
    }));
    for (const { name, input } of plannedCalls(scenario, context, offered)) {
      const result = await run.call(name, input);
      say(`${name}: ${describe(result)}`);
      if (result.status !== "succeeded") return describe(result);
    }
    return undefined;
  } finally {
    await servers.close();
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function describe(result: ToolResult): string {
  const said = result.error === undefined ? "" : `: ${result.error.message}`;
  return `${result.status}${said}`;
}
