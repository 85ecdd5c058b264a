// Every kind of content a server can send, read by our client, through the pipeline, and sent on by the gateway:
// it arrives as it was (MCP-4, GATE-4).

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createKernel, type JsonObject } from "@soong/core";
import { createGatewayBroker, serveGatewayHttp } from "@soong/mcp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { callServerTool } from "../../packages/mcp/src/call/call-server-tool.ts";
import { ERAS, type EraMode } from "./sdk-host.ts";

const TOKEN = "correct-horse-battery-staple";
const PNG = "iVBORw0KGgo=";
const annotations = {
  audience: ["user", "assistant"],
  priority: 0.3,
  lastModified: "2026-11-16T09:00:00Z",
};
const _meta = { "example.org/trace": { id: "t1", hops: [1, 2] } };

const KINDS: Record<string, JsonObject> = {
  text: { type: "text", text: "words\n\twith é and \u2028" },
  "text, annotated": { type: "text", text: "words", annotations, _meta },
  image: { type: "image", data: PNG, mimeType: "image/png" },
  "image, annotated": { type: "image", data: PNG, mimeType: "image/webp", annotations, _meta },
  audio: { type: "audio", data: "AAECAw==", mimeType: "audio/wav", annotations, _meta },
  "a link": {
    type: "resource_link",
    uri: "file:///a%20b.txt",
    name: "a b.txt",
    title: "A and B",
    description: "both",
    mimeType: "text/plain; charset=utf-8",
    size: 12,
    annotations,
    _meta,
  },
  "an embedded text": {
    type: "resource",
    resource: { uri: "git://x", mimeType: "text/markdown", text: "# x", _meta },
    annotations,
  },
  "embedded bytes": {
    type: "resource",
    resource: { uri: "file:///a.zip", mimeType: "application/zip", blob: "UEsDBA==" },
    _meta,
  },
  "an embedded text without a type": { type: "resource", resource: { uri: "a:b", text: "" } },
};

let answer: JsonObject = {};
let url = "";
const cleanUp: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const kernel = createKernel();
  kernel.registry.open({
    id: "all",
    kind: "mcp",
    tools: [
      {
        name: "mcp.all.kinds",
        description: "Sends whatever it is told",
        input_schema: { type: "object" },
        permission: "readonly",
        handler: (input, context) =>
          callServerTool(
            {
              server: { callTool: () => Promise.resolve(answer) },
              server_id: "all",
              name: "kinds",
              arguments: input as JsonObject,
              timeoutMs: 10_000,
              isReadonly: true,
            },
            context,
          ),
      },
    ],
  });
  const broker = createGatewayBroker();
  const session = await kernel.openSession({ ask: () => ({ decision: "allow_once" }) });
  const server = { name: "soong", version: "1" };
  const served = await serveGatewayHttp({ session, broker, server, token: TOKEN });
  cleanUp.push(() => served.close());
  ({ url } = served);
});

afterAll(async () => {
  for (const clean of cleanUp.toReversed()) await clean();
});

async function host(mode: EraMode): Promise<Client> {
  const client = new Client({ name: "host", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  cleanUp.push(() => client.close());
  return client;
}

describe.each(ERAS)("to a client of %s", (_name, mode) => {
  let client: Client;
  beforeAll(async () => {
    client = await host(mode);
  });
  const call = () => client.callTool({ name: "mcp__all__kinds" });

  it.each(Object.entries(KINDS))("%s arrives as it was sent", async (_kind, block) => {
    verifies("MCP-4", "GATE-4");
    answer = { content: [block] };
    expect((await call()).content).toEqual([block]);
  });

  it("all of them arrive together, in their order, with _meta of the whole and structured content", async () => {
    verifies("MCP-4", "GATE-4");
    const content = Object.values(KINDS);
    const data = { rows: [1, { deep: null }] };
    answer = { content, structuredContent: data, _meta };
    const result = await call();
    expect(result.content).toEqual([...content, { type: "text", text: JSON.stringify(data) }]);
    expect(result.structuredContent).toMatchObject(data);
    expect(result._meta).toMatchObject(_meta);
  });

  it("an error keeps its words and its pictures", async () => {
    verifies("MCP-4", "GATE-4");
    const image = KINDS["image"]!;
    answer = { content: [{ type: "text", text: "it broke" }, image], isError: true };
    const result = await call();
    expect(result.isError).toBe(true);
    expect(result.content).toEqual([{ type: "text", text: "it broke" }, image]);
  });

  it("odd fields beside good content cost themselves, and names the protocol keeps are not passed on", async () => {
    verifies("MCP-4");
    answer = {
      content: [
        {
          type: "text",
          text: "a",
          annotations: { audience: ["cat"], priority: "high", lastModified: "now" },
          _meta: 7,
        },
        { type: "text", text: "b", annotations: { priority: 2, audience: ["user"] } },
        { type: "resource_link", uri: "x:y", title: 7, size: "big" },
      ],
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "not ours" }, mine: 1 },
    };
    const { content, _meta: meta } = await call();
    expect(content).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "b", annotations: { audience: ["user"] } },
      { type: "resource_link", uri: "x:y", name: "x:y" },
    ]);
    expect(JSON.stringify(meta)).not.toContain("not ours");
    expect(meta).toMatchObject({ mine: 1 });
  });
});
