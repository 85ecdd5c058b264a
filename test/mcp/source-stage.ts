// Servers without processes for the tests of catalog, calls and sources: what a server answers is a function,
// and its connection is had, lost and had again when the test says so.

import type { JsonObject, JsonValue } from "@soong/core";
import {
  McpRequestFailure,
  McpServerFailure,
  type ConnectedServer,
  type McpConnection,
  type McpConnectionState,
  type McpServerEntry,
  type ServerNotice,
  type ToolCallOptions,
  type ToolCallRequest,
} from "@soong/mcp";

export function entryOf(server_id: string, given: Partial<McpServerEntry> = {}): McpServerEntry {
  return {
    server_id,
    transport: { kind: "stdio", command: "true", args: [], env: {} },
    disabled: false,
    disabled_tools: [],
    readonly_tools: [],
    tags: [],
    network: false,
    hosts: [],
    timeout_ms: 100_000,
    connect_timeout_ms: 30_000,
    missing_variables: [],
    place: { file: "mcp.json", line: 2 },
    ...given,
  };
}

export interface ScriptedServer {
  readonly tools?: readonly JsonValue[];
  readonly instructions?: string;
  readonly listToolsPage?: ConnectedServer["listToolsPage"];
  readonly callTool?: ConnectedServer["callTool"];
  readonly era?: ConnectedServer["era"];
  /** Beside tools. */
  readonly capabilities?: JsonObject;
  /** Whatever is no tools/call; default: unknown. */
  readonly request?: ConnectedServer["request"];
  readonly watch?: ConnectedServer["watch"];
}

export interface ReceivedCall {
  readonly request: ToolCallRequest;
  readonly options: ToolCallOptions;
}

export function scriptedServer(script: ScriptedServer): ConnectedServer & {
  readonly received: ReceivedCall[];
} {
  const received: ReceivedCall[] = [];
  return {
    era: script.era ?? "2025",
    protocol_version: "2025-11-25",
    server_info: { name: "scripted", version: "1.0.0" },
    instructions: script.instructions,
    capabilities: { tools: {}, ...script.capabilities },
    received,
    listToolsPage:
      script.listToolsPage ??
      (() => Promise.resolve({ tools: script.tools ?? [], next_cursor: undefined })),
    callTool(request, options) {
      received.push({ request, options });
      return script.callTool?.(request, options) ?? Promise.resolve(textAnswer("done"));
    },
    request:
      script.request ??
      ((method) =>
        Promise.reject(new McpRequestFailure("rpc_error", `no ${method}`, { code: -32_601 }))),
    watch: script.watch ?? (() => Promise.reject(new Error("it cannot be watched"))),
  };
}

export function textAnswer(text: string): JsonObject {
  return { content: [{ type: "text", text }] };
}

/** Settles when the caller gives up, as a real connection does. */
export function neverAnswers(_request: ToolCallRequest, { signal }: ToolCallOptions) {
  return new Promise<JsonObject>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new McpRequestFailure("aborted", "aborted")));
  });
}

export interface ScriptedConnection extends McpConnection {
  /** The next attempts end with this server, or fail with this message. */
  becomes(next: ConnectedServer | string): void;
  /** The server is gone, in the middle of whatever it did. */
  lose(message: string): void;
  /** Attempts wait until then. */
  hold(): () => void;
  toolsChanged(): void;
  /** The server tells something of its prompts or resources. */
  tells(notice: ServerNotice): void;
  readonly attempts: number;
  readonly isClosed: boolean;
}

export function scriptedConnection(
  server_id: string,
  first: ConnectedServer | string,
): ScriptedConnection {
  let next = first;
  let state: McpConnectionState = { kind: "idle" };
  let attempts = 0;
  let gate: Promise<void> = Promise.resolve();
  const states = new Set<(state: McpConnectionState) => void>();
  const lists = new Set<() => void>();
  const notices = new Set<(notice: ServerNotice) => void>();
  const become = (now: McpConnectionState): void => {
    state = now;
    for (const listener of states) listener(now);
  };
  const isClosed = (): boolean => state.kind === "closed";
  return {
    server_id,
    get state() {
      return state;
    },
    get attempts() {
      return attempts;
    },
    get isClosed() {
      return isClosed();
    },
    async connected() {
      if (state.kind === "connected") return state.server;
      attempts += 1;
      become({ kind: "connecting" });
      await gate;
      if (isClosed()) throw new McpServerFailure("closed", "closed");
      if (typeof next !== "string") {
        become({ kind: "connected", server: next });
        return next;
      }
      const failure = new McpServerFailure("unreachable", next);
      become({ kind: "failed", failure, retry_at: 0 });
      throw failure;
    },
    onToolsChanged: (listener) => listen(lists, listener),
    onNotice: (listener) => listen(notices, listener),
    onStateChanged: (listener) => listen(states, listener),
    close() {
      become({ kind: "closed" });
      return Promise.resolve();
    },
    becomes(now) {
      next = now;
    },
    lose(message) {
      become({ kind: "failed", failure: new McpServerFailure("lost", message), retry_at: 0 });
    },
    hold() {
      let open = (): void => {};
      gate = new Promise((resolve) => {
        open = resolve;
      });
      return open;
    },
    toolsChanged() {
      for (const listener of lists) listener();
    },
    tells(notice) {
      for (const listener of notices) listener(notice);
    },
  };
}

function listen<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
