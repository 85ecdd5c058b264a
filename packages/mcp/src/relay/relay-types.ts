// The relay as its users see it.

import type { JsonObject } from "@soong/core";
import type { ListedPrompt, ListedResource, ListedTemplate } from "./listed-items.ts";

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
  /** Undefined where nobody can complete it. Rejects with an McpRequestFailure. */
  complete(params: JsonObject, may: MayCall, signal: AbortSignal): Promise<Completion | undefined>;
  /** Undefined where no server that may be asked has it. */
  watch(uri: string, may: MayCall): Promise<(() => void) | undefined>;
  /** From now on servers of the older era log at least so much. */
  wantLogs(level: string): void;
  onChange(listener: (change: RelayChange) => void): () => void;
  close(): void;
}
