// The part of a runtime that is about MCP servers: which of them it has, when they are ready, and their facts on record.

import {
  createRedactor,
  type KnownSecret,
  type Registry,
  type Roots,
  type Session,
} from "@soong/core";
import type { McpServerEntry, McpServers, McpServersOptions } from "@soong/mcp";
import type { LoadedConfig } from "../config/index.ts";
import { loadUserServers } from "./user-servers.ts";
import { createServerFacts } from "./server-facts.ts";

export interface RuntimeServersOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: LoadedConfig;
  readonly roots: Roots;
  readonly choice: ServerChoice;
  readonly canElicit: boolean;
  readonly host?: McpServersOptions["host"];
  onWaiting?(server_ids: readonly string[]): void;
}

export type ServerChoice = "all" | "none" | { readonly only: string };

export interface RuntimeServers {
  readonly warnings: readonly string[];
  /** All of mcp.json, whichever of them were chosen. */
  readonly configured: readonly Pick<McpServerEntry, "server_id" | "tags">[];
  /** Every token that comes later is added to the secrets. */
  open(registry: Registry, secrets: KnownSecret[]): Promise<OpenedServers>;
}

export interface OpenedServers {
  readonly mcp: McpServers | undefined;
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** From now on the facts of servers are in the runs of the session. */
  readonly watch: (session: Session) => void;
}

/** A wait that is noticed wants an explanation. */
const TELL_AFTER_MS = 1000;

export async function runtimeServers(options: RuntimeServersOptions): Promise<RuntimeServers> {
  const { env, config, roots, choice, canElicit, host } = options;
  const { home, values } = config;
  const { entries: all, warnings } = await loadUserServers(home, env, values.mcp);
  const entries = pickServers(all, choice);

  return {
    warnings,
    configured: all,
    async open(registry, secrets) {
      if (entries.length === 0) {
        return { mcp: undefined, ready: async () => {}, watch: () => {} };
      }
      const { openServers } = await import("./open-servers.ts");
      const { record, watch } = createServerFacts();
      const given = { home, env, roots, entries, registry, canElicit };
      const asked = host === undefined ? {} : { host };
      // Hidden from now on, in runs under way too: a token that is renewed may come back in the very next answer.
      const onSecret = (secret: KnownSecret): void => {
        if (!secrets.some(({ value }) => value === secret.value)) secrets.push(secret);
      };
      const redactor = createRedactor({ secrets });
      const mcp = await openServers({ ...given, ...asked, record, onSecret, redactor });
      return { mcp, ready: (signal) => ready(mcp, signal), watch };
    },
  };

  async function ready(mcp: McpServers, signal: AbortSignal): Promise<void> {
    const tell = setTimeout(() => {
      const waitedFor = mcp.connecting();
      if (waitedFor.length > 0) options.onWaiting?.(waitedFor);
    }, TELL_AFTER_MS);
    try {
      await mcp.ready(signal, values.mcp.wait_ms);
    } finally {
      clearTimeout(tell);
    }
  }
}

function pickServers(
  entries: readonly McpServerEntry[],
  choice: ServerChoice,
): readonly McpServerEntry[] {
  if (choice === "all") return entries;
  return choice === "none" ? [] : entries.filter(({ server_id }) => server_id === choice.only);
}
