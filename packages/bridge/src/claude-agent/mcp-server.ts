// The tools of the kernel as an MCP server in this process. The SDK only connects it to a transport, so these few messages of the
// protocol are all there is.

import type { JsonObject } from "@soong/core";

export interface McpTransport {
  start(): Promise<void>;
  send(message: object): Promise<void>;
  close(): Promise<void>;
}

export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly annotations: { readonly readOnlyHint: boolean };
}

export interface McpCall {
  readonly name: string;
  readonly arguments: unknown;
  /** The id that the model's call has in the host. */
  readonly toolUseId: string | undefined;
  /** Fires when the host cancels the call or closes the connection. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { message?: string; progress?: number; total?: number }) => void;
}

export interface McpAnswer {
  readonly content: readonly JsonObject[];
  readonly isError: boolean;
}

export interface McpHandlers {
  listTools(): Promise<readonly McpTool[]>;
  /** Never rejects. */
  callTool(call: McpCall): Promise<McpAnswer>;
  onClose(): void;
}

export interface McpServer {
  connect(transport: McpTransport): Promise<void>;
  close(): Promise<void>;
  /** Reports a changed list to the host. */
  reportToolsChanged(): Promise<void>;
}

const PROTOCOL_VERSION = "2025-06-18";

export function createMcpServer(name: string, handlers: McpHandlers): McpServer {
  let connected: McpTransport | undefined;
  const running = new Map<unknown, AbortController>();

  return { connect, close, reportToolsChanged };

  async function connect(transport: McpTransport): Promise<void> {
    connected = transport;
    // As the SDK's own servers do: it calls these two.
    Object.assign(transport, {
      onmessage: (message: unknown) => void receive(transport, message),
      onclose: () => onClose(transport),
    });
    await transport.start();
  }

  function onClose(transport: McpTransport): void {
    if (connected === transport) connected = undefined;
    for (const call of running.values()) call.abort(new Error("the host has closed the session"));
    handlers.onClose();
  }

  async function close(): Promise<void> {
    await connected?.close();
  }

  async function reportToolsChanged(): Promise<void> {
    await send(connected, { method: "notifications/tools/list_changed" });
  }

  async function receive(transport: McpTransport, message: unknown): Promise<void> {
    const { id, method, params } = readObject(message);
    if (method === "notifications/cancelled") {
      const { requestId, reason } = readObject(params);
      const why = typeof reason === "string" ? reason : "the host has cancelled the call";
      running.get(requestId)?.abort(new Error(why));
    }
    if (id === undefined || typeof method !== "string") return;
    const answer = await answerRequest(transport, { id, method, params: readObject(params) });
    await send(transport, { id, ...answer });
  }

  async function answerRequest(
    transport: McpTransport,
    { id, method, params }: { id: unknown; method: string; params: Fields },
  ): Promise<object> {
    switch (method) {
      case "initialize":
        return {
          result: {
            protocolVersion: params["protocolVersion"] ?? PROTOCOL_VERSION,
            capabilities: { tools: { listChanged: true } },
            serverInfo: { name, version: "0.1.0" },
          },
        };
      case "ping":
        return { result: {} };
      case "tools/list":
        return { result: { tools: (await handlers.listTools()).map(describeForHost) } };
      case "tools/call":
        return { result: await callTool(transport, id, params) };
      default:
        return { error: { code: -32601, message: `there is no method ${method}` } };
    }
  }

  async function callTool(
    transport: McpTransport,
    id: unknown,
    params: Fields,
  ): Promise<McpAnswer> {
    const controller = new AbortController();
    running.set(id, controller);
    const about = readObject(params["_meta"]);
    const toolUseId = about["claudecode/toolUseId"];
    const { progressToken } = about;
    let steps = 0;
    const answer = await handlers.callTool({
      name: String(params["name"]),
      arguments: params["arguments"] ?? {},
      toolUseId: typeof toolUseId === "string" ? toolUseId : undefined,
      signal: controller.signal,
      onProgress: ({ message, progress, total }) => {
        steps += 1;
        if (progressToken === undefined) return;
        const done = { progressToken, progress: progress ?? steps, total, message };
        void send(transport, { method: "notifications/progress", params: done });
      },
    });
    running.delete(id);
    return answer;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function readObject(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** A transport that is closed takes nothing any more; no one waits for it then. */
async function send(transport: McpTransport | undefined, message: object): Promise<void> {
  await transport?.send({ jsonrpc: "2.0", ...message }).catch(() => {});
}

/**
 * What the kernel has loaded is for the model: Claude Code would put it behind a search of its own. And the kernel has bounded
 * the results: Claude Code would write them to a file.
 */
function describeForHost(tool: McpTool): object {
  return { ...tool, _meta: { "anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": 1e6 } };
}
