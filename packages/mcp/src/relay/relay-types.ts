// The relay as its users see it.

import type { JsonObject } from "@soong/core";
import type { ListedPrompt, ListedResource, ListedTemplate } from "./listed-items.ts";
import { canonicalName } from "../catalog/index.ts";

// How the calls that are not tool calls are named, for rules and for the record: after the server, like its tools, so that
// a rule about all of a server is about these as well. No tool has such a name: the protocol allows no "@" in one.

export const READ_RESOURCE = "@read_resource";
export const GET_PROMPT = "@get_prompt";

export type RelayMethod = typeof READ_RESOURCE | typeof GET_PROMPT;

export function relayToolName(server_id: string, method: RelayMethod): string {
  return canonicalName(server_id, method);
}

export function isRelayTool(tool_name: string): boolean {
  return tool_name.endsWith(`.${READ_RESOURCE}`) || tool_name.endsWith(`.${GET_PROMPT}`);
}

export type RelayChange =
  | { readonly kind: "prompts" }
  | { readonly kind: "resources" }
  | { readonly kind: "updated"; readonly uri: string };

/** Which of the calls a client may make at all: those its run offers. */
export type MayCall = (tool_name: string) => boolean;

export interface Completion {
  readonly values: string[];
  readonly total?: number;
  readonly hasMore?: boolean;
}

export interface RelayTarget {
  readonly tool_name: string;
  readonly arguments: JsonObject;
}

export interface Relay {
  /** What the servers that are connected now declare, all of them together. */
  capabilities(): {
    readonly prompts: boolean;
    readonly resources: boolean;
    readonly subscribe: boolean;
    readonly completions: boolean;
    readonly logging: boolean;
  };
  prompts(may: MayCall): Promise<ListedPrompt[]>;
  resources(may: MayCall): Promise<ListedResource[]>;
  templates(may: MayCall): Promise<ListedTemplate[]>;
  /** The call that gets it; undefined where no server that may be asked has it. */
  promptCall(
    name: string,
    given: JsonObject | undefined,
    may: MayCall,
  ): Promise<RelayTarget | undefined>;
  resourceCall(uri: string, may: MayCall): Promise<RelayTarget | undefined>;
  /** Undefined where no one can complete it. Rejects with an McpRequestFailure. */
  complete(params: JsonObject, may: MayCall, signal: AbortSignal): Promise<Completion | undefined>;
  /** Undefined where no server that may be asked has it. */
  watch(uri: string, may: MayCall): Promise<(() => void) | undefined>;
  /** From now on servers of the older era log at least so much. */
  wantLogs(level: string): void;
  onChange(listener: (change: RelayChange) => void): () => void;
  close(): void;
}

/** Least important first. */
export const LOG_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

export function rankOfLevel(level: string): number {
  return LOG_LEVELS.findIndex((known) => known === level);
}
