// A gateway with nothing in it: the SDK's server and the SDK's client in one process, passing calls on as they come.
// What our gateway costs beside it is what it does; what this one costs is the hop.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const [, , ...args] = process.argv;
const behind = new Client({ name: "bench", version: "1.0.0" });
await behind.connect(new StdioClientTransport({ command: process.execPath, args }));
serveStdio(async () => {
  const mcp = new McpServer(
    { name: "bench", version: "1.0.0" },
    { capabilities: { tools: { listChanged: true } } },
  );
  mcp.server.setRequestHandler("tools/list", ({ params }) => behind.listTools(params));
  mcp.server.setRequestHandler("tools/call", ({ params }, { mcpReq }) =>
    behind.callTool(params, { signal: mcpReq.signal }),
  );
  return mcp;
});
process.stdin.once("end", () => void behind.close());
