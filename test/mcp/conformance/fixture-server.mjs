// The MCP server that is behind the gateway in the conformance runs: what the scenarios of the official suite
// call, in both eras of the protocol. Over a pipe, with `--older` in the older era only; with `--http` on a free port
// of this machine, whose address is the first line it prints.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { hostHeaderValidation, originValidation, toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  fromJsonSchema,
  isLegacyRequest,
  McpServer,
  ResourceTemplate,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { ASKING_OPTIONS, addAskingTools } from "./fixture-asking-tools.mjs";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
const SILENCE = Buffer.concat([
  Buffer.from(
    "RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x02\0\0\0",
    "latin1",
  ),
  Buffer.from([128, 128]),
]).toString("base64");

/** Everybody who is to be told that a list is another now. @type {Set<(what: "tools" | "prompts") => void>} */
const listeners = new Set();
/** Lists that grow by one with every trigger. */
const extra = { tools: 0, prompts: 0 };
/** @type {WeakMap<McpServer, Set<string>>} */
const grown = new WeakMap();

if (process.argv.includes("--http")) await serveHttp();
else if (process.argv.includes("--older"))
  await createFixture().connect(new StdioServerTransport());
else serveStdio(() => createFixture());

/** @param {{ tells?: boolean }} [options] whether changes are sent by the server itself */
function createFixture({ tells = true } = {}) {
  const mcp = new McpServer(
    { name: "conformance-fixture", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        logging: {},
      },
      ...ASKING_OPTIONS,
    },
  );
  addTools(mcp);
  addResources(mcp);
  addPrompts(mcp);
  addAskingTools(mcp);
  mcp.server.setRequestHandler("completion/complete", ({ params }) => {
    const values = ["paris", "park", "party", "test"].filter((word) =>
      word.startsWith(params.argument.value),
    );
    return { completion: { values, total: values.length, hasMore: false } };
  });
  grow(mcp, "tools", extra.tools);
  grow(mcp, "prompts", extra.prompts);
  if (!tells) return mcp;
  /** @param {"tools" | "prompts"} what */
  const tell = (what) => grow(mcp, what, extra[what]);
  listeners.add(tell);
  const { server } = mcp;
  // The SDK takes one handler as a property; it is no event target.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  server.onclose = () => listeners.delete(tell);
  return mcp;
}

/**
 * The SDK tells its client of everything that is added.
 * @param {McpServer} mcp
 * @param {"tools" | "prompts"} what
 * @param {number} count
 */
function grow(mcp, what, count) {
  const known = grown.get(mcp) ?? new Set();
  grown.set(mcp, known);
  for (let n = 1; n <= count; n += 1) {
    const name = `test_extra_${what}_${n}`;
    if (known.has(name)) continue;
    known.add(name);
    const description = "Was not there before";
    if (what === "tools") mcp.registerTool(name, { description }, () => text("here"));
    else mcp.registerPrompt(name, { description }, () => ({ messages: [userSays("here")] }));
  }
}

/** @param {"tools" | "prompts"} what */
function change(what) {
  extra[what] += 1;
  for (const tell of listeners) tell(what);
}

/** @param {McpServer} mcp */
function addTools(mcp) {
  const image = { type: /** @type {const} */ ("image"), data: PIXEL, mimeType: "image/png" };
  const nothing = fromJsonSchema({ type: "object", properties: {} });

  mcp.registerTool("test_simple_text", { description: "Says one sentence" }, () =>
    text("This is a simple text response for testing."),
  );
  mcp.registerTool("test_image_content", { description: "Shows one pixel" }, () => ({
    content: [image],
  }));
  mcp.registerTool("test_audio_content", { description: "Plays two samples of silence" }, () => ({
    content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }],
  }));
  mcp.registerTool("test_embedded_resource", { description: "Encloses a resource" }, () => ({
    content: [
      enclosed("test://embedded-resource", "text/plain", "This is an embedded resource content."),
    ],
  }));
  mcp.registerTool("test_multiple_content_types", { description: "Several kinds at once" }, () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      image,
      enclosed("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  }));
  mcp.registerTool("test_error_handling", { description: "Always fails" }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  mcp.registerTool(
    "test_tool_with_logging",
    { description: "Logs while it works", inputSchema: nothing },
    async (_input, { mcpReq }) => {
      for (const said of [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
      ]) {
        await mcpReq.notify({
          method: "notifications/message",
          params: { level: "info", data: said },
        });
      }
      return text("Logged three times");
    },
  );
  mcp.registerTool(
    "test_logging_tool",
    { description: "Logs where the request asks for it", inputSchema: nothing },
    async (_input, { mcpReq }) => {
      // oxlint-disable-next-line typescript/no-deprecated -- clients of the older era still ask for it
      await mcpReq.log("info", "Said only to those who want to hear it");
      return text("Logged, if anybody listens");
    },
  );
  mcp.registerTool(
    "test_tool_with_progress",
    { description: "Reports how far it is", inputSchema: nothing },
    async (_input, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken !== undefined) {
        for (const progress of [0, 50, 100]) {
          const params = { progressToken, progress, total: 100 };
          await mcpReq.notify({ method: "notifications/progress", params });
        }
      }
      return text("Done, step by step");
    },
  );
  mcp.registerTool("test_trigger_tool_change", { description: "Adds a tool" }, () => {
    change("tools");
    return text("There is one more tool now");
  });
  mcp.registerTool("test_trigger_prompt_change", { description: "Adds a prompt" }, () => {
    change("prompts");
    return text("There is one more prompt now");
  });
}

/** @param {McpServer} mcp */
function addResources(mcp) {
  const about = (/** @type {string} */ description, mimeType = "text/plain") => ({
    description,
    mimeType,
  });
  mcp.registerResource(
    "static-text",
    "test://static-text",
    about("Text that never changes"),
    () => ({
      contents: [
        {
          uri: "test://static-text",
          mimeType: "text/plain",
          text: "This is the content of the static text resource.",
        },
      ],
    }),
  );
  mcp.registerResource(
    "static-binary",
    "test://static-binary",
    about("One pixel", "image/png"),
    () => ({
      contents: [{ uri: "test://static-binary", mimeType: "image/png", blob: PIXEL }],
    }),
  );
  mcp.registerResource("watched", "test://watched-resource", about("Can be watched"), () => ({
    contents: [{ uri: "test://watched-resource", mimeType: "text/plain", text: "Watched" }],
  }));
  mcp.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    about("Data by its id", "application/json"),
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: "application/json",
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
  // Watched by no one else: what is subscribed is only answered for.
  mcp.server.setRequestHandler("resources/subscribe", () => ({}));
  mcp.server.setRequestHandler("resources/unsubscribe", () => ({}));
}

/** @param {McpServer} mcp */
function addPrompts(mcp) {
  mcp.registerPrompt("test_simple_prompt", { description: "Takes no arguments" }, () => ({
    messages: [userSays("This is a simple prompt for testing.")],
  }));
  mcp.registerPrompt(
    "test_prompt_with_arguments",
    { description: "Takes two arguments", argsSchema: strings("arg1", "arg2") },
    ({ arg1, arg2 }) => ({
      messages: [userSays(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    }),
  );
  mcp.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "Encloses a resource", argsSchema: strings("resourceUri") },
    ({ resourceUri }) => ({
      messages: [
        {
          role: "user",
          content: enclosed(
            String(resourceUri),
            "text/plain",
            "Embedded resource content for testing.",
          ),
        },
        userSays("Please process the embedded resource above."),
      ],
    }),
  );
  mcp.registerPrompt("test_prompt_with_image", { description: "Shows one pixel" }, () => ({
    messages: [
      { role: "user", content: { type: "image", data: PIXEL, mimeType: "image/png" } },
      userSays("Please analyze the image above."),
    ],
  }));
}

/** @param {string[]} names */
function strings(...names) {
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  return /** @type {import("@modelcontextprotocol/server").StandardSchemaWithJSON<any, Record<string, string>>} */ (
    fromJsonSchema({ type: "object", properties, required: names })
  );
}

/** @param {string} said */
function text(said) {
  return { content: [{ type: /** @type {const} */ ("text"), text: said }] };
}

/** @param {string} said */
function userSays(said) {
  const role = /** @type {const} */ ("user");
  return { role, content: { type: /** @type {const} */ ("text"), text: said } };
}

/** @param {string} uri @param {string} mimeType @param {string} held */
function enclosed(uri, mimeType, held) {
  return { type: /** @type {const} */ ("resource"), resource: { uri, mimeType, text: held } };
}

/** Both eras at one address: clients of the older have sessions. */
async function serveHttp() {
  /** @type {Map<string, WebStandardStreamableHTTPServerTransport>} */
  const sessions = new Map();
  const modern = createMcpHandler(() => createFixture({ tells: false }), { legacy: "reject" });
  listeners.add((what) => {
    if (what === "tools") modern.notify.toolsChanged();
    else modern.notify.promptsChanged();
  });

  /** @param {Request} request */
  async function answer(request) {
    const body = request.method === "POST" ? await request.clone().json() : undefined;
    if (request.method === "POST" && !(await isLegacyRequest(request, body))) {
      return modern.fetch(request, { parsedBody: body });
    }
    const given = request.headers.get("mcp-session-id");
    const known = given === null ? undefined : sessions.get(given);
    if (given !== null && known === undefined) return new Response(undefined, { status: 404 });
    const options = body === undefined ? {} : { parsedBody: body };
    if (known !== undefined) return known.handleRequest(request, options);
    const id = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => void sessions.delete(id),
    });
    sessions.set(id, transport);
    await createFixture().connect(transport);
    return transport.handleRequest(request, options);
  }

  const isHost = hostHeaderValidation(LOOPBACK);
  const isOrigin = originValidation(LOOPBACK);
  const handle = toNodeHandler({ fetch: answer });
  const server = createServer((request, response) => {
    if (isHost(request, response) && isOrigin(request, response)) void handle(request, response);
  });
  await new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(undefined));
  });
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
}
