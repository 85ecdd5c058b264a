// Servers with prompts and resources behind the gateway, without processes: what each has is data of the test, and
// what was asked of it is written down.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createKernel,
  createMemoryJournal,
  type JsonObject,
  type JsonValue,
  type MemoryJournal,
  type PolicyInput,
} from "@soong/core";
import {
  createGatewayBroker,
  createPins,
  McpRequestFailure,
  openMcpServers,
  serveGatewayHttp,
  type McpServerEntry,
  type ServedHttp,
  type ToolCallOptions,
} from "@soong/mcp";
import { readArtifactTool } from "@soong/tools";
import { type EraMode } from "./sdk-host.ts";
import {
  entryOf,
  scriptedConnection,
  scriptedServer,
  type ScriptedConnection,
  type ScriptedServer,
} from "./source-stage.ts";

export interface Has {
  readonly prompts?: readonly JsonValue[];
  readonly resources?: readonly JsonValue[];
  readonly templates?: readonly JsonValue[];
  /** By name. */
  readonly messages?: Readonly<Record<string, JsonValue>>;
  /** By address: the contents, or an error of the protocol. */
  readonly contents?: Readonly<Record<string, JsonValue | McpRequestFailure>>;
  readonly capabilities?: JsonObject;
  readonly script?: ScriptedServer;
  readonly entry?: Partial<McpServerEntry>;
}

export interface Asked {
  readonly server_id: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly options: ToolCallOptions;
}

export interface RelayStage {
  readonly served: ServedHttp;
  readonly journal: MemoryJournal;
  readonly asked: Asked[];
  readonly watched: string[];
  readonly problems: string[];
  connection(server_id: string): ScriptedConnection;
  /** A client of the gateway, closed with the stage. */
  client(
    mode: EraMode,
    answer?: () => { action: "accept"; content: Record<string, string> },
  ): Promise<Client>;
  close(): Promise<void>;
}

const ALLOWED: PolicyInput = { rules: [{ tool: "mcp.*", decision: "allow" }] };
const TOKEN = "a-token-of-some-more-than-sixteen-characters";

export async function setRelayStage(
  servers: Readonly<Record<string, Has>>,
  options: {
    readonly policy?: PolicyInput;
    readonly only?: string;
    readonly secrets?: readonly { name: string; value: string }[];
  } = {},
): Promise<RelayStage> {
  const asked: Asked[] = [];
  const watched: string[] = [];
  const problems: string[] = [];
  const connections = new Map<string, ScriptedConnection>();
  const clients: Client[] = [];
  const journal = createMemoryJournal();
  const kernel = createKernel({
    sources: [{ id: "artifacts", kind: "internal", tools: [readArtifactTool()] }],
  });
  const broker = createGatewayBroker();
  const session = await kernel.openSession({
    journal,
    ask: broker.ask,
    elicit: broker.elicit,
    policy: options.policy ?? ALLOWED,
    secrets: options.secrets ?? [],
  });
  const entries = Object.entries(servers).map(([id, has]) => entryOf(id, has.entry));
  const behind = openMcpServers({
    entries,
    registry: kernel.registry,
    pins: await createPins({ load: async () => undefined, save: async () => {} }),
    host: broker.host,
    connect({ server_id }) {
      const has = servers[server_id] ?? {};
      const connection = scriptedConnection(server_id, serverWith(server_id, has));
      connections.set(server_id, connection);
      return connection;
    },
  });
  const served = await serveGatewayHttp({
    session,
    broker,
    server: { name: "soong", version: "1" },
    token: TOKEN,
    servers: behind,
    ...(options.only === undefined ? {} : { only: options.only }),
    onError: ({ message }) => problems.push(message),
  });

  return {
    served,
    journal,
    asked,
    watched,
    problems,
    connection(server_id) {
      const found = connections.get(server_id);
      if (found === undefined) throw new Error(`no server ${server_id}`);
      return found;
    },
    async client(mode, answer) {
      const client = new Client(
        { name: "host", version: "1" },
        {
          versionNegotiation: { mode },
          capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
        },
      );
      if (answer !== undefined) client.setRequestHandler("elicitation/create", answer);
      clients.push(client);
      const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(served.url), { requestInit }));
      return client;
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      await served.close();
      await behind.close();
    },
  };

  function serverWith(server_id: string, has: Has) {
    const { prompts, resources, templates, messages = {}, contents = {} } = has;
    return scriptedServer({
      capabilities: {
        ...(prompts === undefined ? {} : { prompts: { listChanged: true } }),
        ...(resources === undefined && templates === undefined
          ? {}
          : { resources: { listChanged: true, subscribe: true } }),
        ...has.capabilities,
      },
      async request(method, params, sent): Promise<JsonObject> {
        asked.push({ server_id, method, params, options: sent });
        if (method === "prompts/list") return { prompts: [...(prompts ?? [])] };
        if (method === "resources/list") return { resources: [...(resources ?? [])] };
        if (method === "resources/templates/list") {
          return { resourceTemplates: [...(templates ?? [])] };
        }
        if (method === "prompts/get") {
          return { description: "As asked", messages: messages[params["name"] as string] ?? [] };
        }
        if (method === "resources/read") {
          const held = contents[params["uri"] as string];
          if (held instanceof McpRequestFailure) throw held;
          return { contents: held ?? [] };
        }
        if (method === "completion/complete") {
          return { completion: { values: [`from ${server_id}`, 7], total: 1, hasMore: false } };
        }
        if (method === "logging/setLevel") return {};
        throw new McpRequestFailure("rpc_error", `no ${method}`, { code: -32_601 });
      },
      async watch(uri) {
        watched.push(`+${server_id} ${uri}`);
        return async () => {
          watched.push(`-${server_id} ${uri}`);
        };
      },
      ...has.script,
    });
  }
}
