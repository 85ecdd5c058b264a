// What is known of one MCP server before it is asked anything: how it is reached, and what the user trusts
// it with (MCP-1, MCP-6). All of it comes from the user's own file; nothing here comes from the server.

import type { EntrySandbox, Problem } from "@soong/platform";

export interface McpServerEntry {
  readonly server_id: string;
  readonly transport: McpTransport;
  readonly disabled: boolean;
  readonly disabled_tools: readonly string[];
  /** Which of its tools the user vouches for as readonly, even if the server does not. */
  readonly readonly_tools: readonly string[] | "all";
  /** Of the readonly ones, those that may run beside others (SCHED-10); all of them unless given. */
  readonly concurrency_safe?: readonly string[];
  readonly tags: readonly string[];
  /**
   * Whether its tools reach the network: true for an address, and where the user says so or names hosts. Undefined: a local
   * program of which the user says nothing; its tools do where they are annotated as `openWorldHint`.
   */
  readonly network?: boolean;
  /** The only hosts its tools reach; empty: any. */
  readonly hosts: readonly string[];
  readonly description?: string;
  /** For one call. */
  readonly timeout_ms: number;
  readonly connect_timeout_ms: number;
  /** Variables the entry refers to that are not set: the server is not started without them. */
  readonly missing_variables: readonly string[];
  readonly place: { readonly file: string; readonly line: number };
}

export type McpTransport =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      /** Beside the allowlist, with `${VARIABLE}` filled in. */
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
      /** It runs in a sandbox with this open, or not at all. */
      readonly sandbox?: EntrySandbox;
    }
  | {
      readonly kind: "http";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** What the user knows of its login; most servers need nothing here. */
      readonly oauth?: McpOAuthSettings;
    };

export interface McpOAuthSettings {
  /** A client that was registered by hand. */
  readonly client_id?: string;
  readonly client_secret?: string;
  /** Where this client describes itself, for servers that take such an address for a client_id. */
  readonly client_metadata_url?: string;
  /** What to ask for, instead of what the server suggests. */
  readonly scopes?: readonly string[];
  /** On this machine, as registered by hand; a free port unless given. */
  readonly redirect_uri?: string;
}

/** For entries that say nothing of it themselves. */
export interface McpEntryDefaults {
  readonly timeout_ms?: number;
  readonly connect_timeout_ms?: number;
}

/** A value that must never be shown or recorded, under a name that may be. Fits the redactor's own type. */
export interface McpSecret {
  readonly name: string;
  readonly value: string;
}

export type ParsedMcpSettings = {
  /** Of a file with a mistake in it all that may be one: it holds the same values. */
  readonly secrets: readonly McpSecret[];
  readonly warnings: readonly Problem[];
} & (
  | {
      readonly ok: true;
      /** Disabled ones too. In the order of the file. */
      readonly servers: readonly McpServerEntry[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] }
);
