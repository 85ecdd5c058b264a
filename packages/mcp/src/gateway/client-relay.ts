// Prompts and resources for one client: what it may have of them, the calls that get them, and the resources it
// wants to hear of.

import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type CompleteRequestParams,
  type CompleteResult,
} from "@modelcontextprotocol/server";
import { messageOf, type JsonObject } from "@soong/core";
import { safeLine } from "../catalog/index.ts";
import { McpRequestFailure } from "../connection/index.ts";
import type {
  ListedPrompt,
  ListedResource,
  ListedTemplate,
  MayCall,
  Relay,
  RelayChange,
} from "../relay/index.ts";

export interface RelayedCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

export interface ClientRelay extends Pick<Relay, "capabilities" | "wantLogs"> {
  prompts(): Promise<ListedPrompt[]>;
  resources(): Promise<ListedResource[]>;
  templates(): Promise<ListedTemplate[]>;
  /** Rejects with a ProtocolError where there is no such prompt. */
  promptCall(name: string, given: Record<string, string> | undefined): Promise<RelayedCall>;
  resourceCall(uri: string): Promise<RelayedCall>;
  complete(params: CompleteRequestParams, signal: AbortSignal): Promise<Completion>;
  watch(uri: string): Promise<void>;
  unwatch(uri: string): void;
  /** The same for a stream of its own; the returned function ends it. */
  follow(uri: string): Promise<() => void>;
  /** Whether this client is to be notified. */
  concerns(change: RelayChange): boolean;
  close(): void;
}

export type Completion = CompleteResult["completion"];

export function createClientRelay(relay: Relay, mayCall: () => Promise<MayCall>): ClientRelay {
  const watching = new Map<string, () => void>();
  const followed = new Set<{ readonly uri: string; readonly stop: () => void }>();
  let isClosed = false;

  return {
    capabilities: () => relay.capabilities(),
    wantLogs: (level) => relay.wantLogs(level),
    async prompts() {
      return relay.prompts(await mayCall());
    },
    async resources() {
      return relay.resources(await mayCall());
    },
    async templates() {
      return relay.templates(await mayCall());
    },
    async promptCall(name, given) {
      const may = await mayCall();
      const target = await relay.promptCall(name, given, may);
      if (target === undefined) {
        throw invalid(`there is no prompt ${JSON.stringify(safeLine(name, 200))}`);
      }
      return { name: target.tool_name, arguments: target.arguments };
    },
    async resourceCall(uri) {
      const may = await mayCall();
      const target = await relay.resourceCall(uri, may);
      if (target === undefined) throw notFound(uri);
      return { name: target.tool_name, arguments: target.arguments };
    },
    async complete(params, signal) {
      const may = await mayCall();
      try {
        const completed = await relay.complete({ ...params } as JsonObject, may, signal);
        return { values: [], ...completed };
      } catch (error) {
        const isTheirs = error instanceof McpRequestFailure && error.code === -32_602;
        const code = isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
        throw new ProtocolError(code, safeLine(messageOf(error), 1_000));
      }
    },
    async watch(uri) {
      if (watching.has(uri)) return;
      const stop = await begin(uri);
      if (isClosed || watching.has(uri)) stop();
      else watching.set(uri, stop);
    },
    unwatch(uri) {
      watching.get(uri)?.();
      watching.delete(uri);
    },
    async follow(uri) {
      const one = { uri, stop: await begin(uri) };
      if (isClosed) one.stop();
      else followed.add(one);
      return () => {
        if (followed.delete(one)) one.stop();
      };
    },
    concerns(change) {
      if (change.kind !== "updated" || watching.has(change.uri)) return true;
      return [...followed].some(({ uri }) => uri === change.uri);
    },
    close() {
      isClosed = true;
      for (const stop of watching.values()) stop();
      for (const { stop } of followed) stop();
      watching.clear();
      followed.clear();
    },
  };

  async function begin(uri: string): Promise<() => void> {
    const may = await mayCall();
    let stop: (() => void) | undefined;
    try {
      stop = await relay.watch(uri, may);
    } catch (error) {
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        `the server does not tell of this resource: ${safeLine(messageOf(error), 1_000)}`,
      );
    }
    if (stop === undefined) throw notFound(uri);
    return stop;
  }
}

function notFound(uri: string): ProtocolError {
  return new ResourceNotFoundError(uri, "no server behind this gateway has that resource");
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
