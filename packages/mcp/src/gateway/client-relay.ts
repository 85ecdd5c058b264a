// Prompts and resources for one client: what it may have of them, the calls that get them, and the resources it
// subscribes to.

import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type CompleteRequestParams,
} from "@modelcontextprotocol/server";
import { messageOf, type JsonObject } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { safeLine } from "../catalog/safe-text.ts";
import { McpRequestFailure } from "../connection/failure.ts";
import type { MayCall, Relay, RelayChange, RelayTarget } from "../relay/relay.ts";

export type ClientRelay = ReturnType<typeof createClientRelay>;

export function createClientRelay(relay: Relay, mayCall: () => Promise<MayCall>) {
  /** By what ends each. */
  const followed = new Map<() => void, string>();
  const watching = new Map<string, () => void>();
  let isClosed = false;

  return {
    capabilities: () => relay.capabilities(),
    wantLogs: (level: string) => relay.wantLogs(level),
    prompts: async () => relay.prompts(await mayCall()),
    resources: async () => relay.resources(await mayCall()),
    templates: async () => relay.templates(await mayCall()),
    /** Rejects with a ProtocolError where there is no such prompt. */
    async promptCall(name: string, given: Record<string, string> | undefined) {
      const target = await relay.promptCall(name, given, await mayCall());
      if (target !== undefined) return toCallRequest(target);
      const message = `there is no prompt ${JSON.stringify(safeLine(name, 200))}`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    },
    async resourceCall(uri: string) {
      const target = await relay.resourceCall(uri, await mayCall());
      if (target === undefined) throw notFound(uri);
      return toCallRequest(target);
    },
    async complete(params: CompleteRequestParams, signal: AbortSignal) {
      const may = await mayCall();
      try {
        const completed = await relay.complete({ ...params } as JsonObject, may, signal);
        return completed ?? { values: [] };
      } catch (error) {
        const isTheirs = error instanceof McpRequestFailure && error.code === -32_602;
        const code = isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
        throw new ProtocolError(code, safeLine(messageOf(error), 1_000));
      }
    },
    async watch(uri: string): Promise<void> {
      if (watching.has(uri)) return;
      const unfollow = await follow(uri);
      if (watching.has(uri)) unfollow();
      else watching.set(uri, unfollow);
    },
    unwatch(uri: string): void {
      watching.get(uri)?.();
      watching.delete(uri);
    },
    /** The same for a stream of its own; the returned function ends it. */
    follow,
    /** Whether this client is to be notified. */
    concerns: (change: RelayChange) =>
      change.kind !== "updated" || [...followed.values()].includes(change.uri),
    close(): void {
      isClosed = true;
      for (const unfollow of followed.keys()) unfollow();
    },
  };

  async function follow(uri: string): Promise<() => void> {
    const stop = await begin(uri);
    const unfollow = (): void => {
      if (followed.delete(unfollow)) stop();
    };
    followed.set(unfollow, uri);
    if (isClosed) unfollow();
    return unfollow;
  }

  async function begin(uri: string): Promise<() => void> {
    const may = await mayCall();
    let stop: (() => void) | undefined;
    try {
      stop = await relay.watch(uri, may);
    } catch (error) {
      const message = `the server does not report changes of this resource: ${safeLine(messageOf(error), 1_000)}`;
      throw new ProtocolError(ProtocolErrorCode.InternalError, message);
    }
    if (stop === undefined) throw notFound(uri);
    return stop;
  }
}

function toCallRequest({ tool_name, arguments: input }: RelayTarget) {
  return { name: tool_name, arguments: input, through: "relay" } as const;
}

function notFound(uri: string): ProtocolError {
  return new ResourceNotFoundError(uri, "no server behind this gateway has that resource");
}

const MAX_RESOURCES = 100;

/**
 * Resources a client of the newer protocol listens for: the SDK keeps those streams and tells no one which resources
 * they are about, so the request that opens one is looked at on its way. Nothing where it asks for none; the returned
 * function ends it.
 */
export function followListened(
  message: unknown,
  relay: ClientRelay | undefined,
): (() => void) | undefined {
  if (!isJsonObject(message) || message["method"] !== "subscriptions/listen") return undefined;
  const { params } = message;
  const wanted = isJsonObject(params) ? params["notifications"] : undefined;
  const listed = isJsonObject(wanted) ? wanted["resourceSubscriptions"] : undefined;
  const uris = Array.isArray(listed) ? listed.filter((uri) => typeof uri === "string") : [];
  if (relay === undefined || uris.length === 0) return undefined;
  const following = uris.slice(0, MAX_RESOURCES).map((uri) =>
    // A server that will not tell of it is no reason to hear nothing of the others.
    relay.follow(uri).catch(() => () => {}),
  );
  return () => {
    for (const followed of following) void followed.then((unfollow) => unfollow());
  };
}
