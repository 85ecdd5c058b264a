// A server whose tools ask their client something, in the era and over the transport its argument says:
// "2025" or "2026" over a pipe, "http-2025" on a free port, whose address is the first line it prints.

import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  inputRequired,
  McpServer,
  UrlElicitationRequiredError,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { ASKING_OPTIONS, addAskingTools } from "../conformance/fixture-asking-tools.mjs";

const [, , way] = process.argv;

function createAsking() {
  const mcp = new McpServer({ name: "asking", version: "1" }, ASKING_OPTIONS);
  addAskingTools(mcp);
  mcp.registerTool("login", { description: "Sends its user to a page first" }, (context) => {
    const given = context.mcpReq.inputResponses?.["page"];
    if (given !== undefined) return text(`page: ${JSON.stringify(given)}`);
    const page = inputRequired.elicitUrl({ message: "Log in", url: "https://example.com/login" });
    return inputRequired({ inputRequests: { page } });
  });
  let isOpened = false;
  mcp.registerTool("old_login", { description: "Sends its user to a page, the old way" }, () => {
    if (isOpened) return text("logged in");
    isOpened = true;
    const page = { mode: /** @type {const} */ ("url"), message: "Log in", elicitationId: "e1" };
    throw new UrlElicitationRequiredError([{ ...page, url: "https://example.com/old" }]);
  });
  return mcp;
}

/** @param {string} words */
function text(words) {
  return { content: [{ type: /** @type {const} */ ("text"), text: words }] };
}

if (way === "2026") serveStdio(() => createAsking());
else if (way === "2025") await createAsking().connect(new StdioServerTransport());
else serveHttp();

function serveHttp() {
  /** @type {Map<string, WebStandardStreamableHTTPServerTransport>} */
  const sessions = new Map();
  const fetch = async (/** @type {Request} */ request) => {
    const id = request.headers.get("mcp-session-id");
    const known = sessions.get(id ?? "");
    if (known !== undefined) return known.handleRequest(request);
    if (id !== null) return new Response(null, { status: 404 });
    const fresh = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => fresh,
    });
    sessions.set(fresh, transport);
    await createAsking().connect(transport);
    return transport.handleRequest(request);
  };
  const handle = toNodeHandler({ fetch });
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, "127.0.0.1", () => {
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
  });
  process.stdin.resume();
  process.stdin.on("end", () => process.exit(0));
}
