// The MCP servers of a runtime: mcp.json of the home (MCP-1), never a file of a project. Reading it starts nothing, and
// nothing is connected before it is needed; pins, logs and logins are in the home (MCP-7, MCP-8).

import type { ToolProvider } from "@soong/agent";
import {
  createRedactor,
  messageOf,
  type KnownSecret,
  type Registry,
  type Roots,
  type Run,
  type Session,
} from "@soong/core";
import type { McpServerEntry, McpServers, McpServersOptions, ServerFact } from "@soong/mcp";
import { describeProblem, type OpenEntrySandbox } from "@soong/platform";
import {
  ConfigError,
  readSettingsFile,
  type LoadedConfig,
  type SoongConfig,
} from "../config/index.ts";
import { homePaths, SetupError } from "./home.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface UserServers {
  /** Disabled ones too, in the order of the file. */
  readonly entries: readonly McpServerEntry[];
  readonly secrets: readonly KnownSecret[];
  /** What is odd and no mistake, each with its place. */
  readonly warnings: readonly string[];
}

/** Throws a SetupError that names every problem of the file. */
export async function loadUserServers(
  home: string,
  env: Environment,
  { call_timeout_ms, connect_timeout_ms }: SoongConfig["mcp"],
): Promise<UserServers> {
  const next = "Fix mcp.json, or move it away to run without MCP servers.";
  const file = homePaths(home).servers;
  const read = await readSettingsFile(file).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
    throw new SetupError(error.problems.map(describeProblem), next);
  });
  if (read === undefined || namesNone(read.text)) return { entries: [], secrets: [], warnings: [] };
  // Its own piece: a command that needs no server does not load the rest of that package.
  const { parseMcpSettings } = await import("@soong/mcp/settings");
  const defaults = { timeout_ms: call_timeout_ms, connect_timeout_ms };
  const parsed = parseMcpSettings(read.text, file, env, defaults);
  if (!parsed.ok) throw new SetupError(parsed.problems.map(describeProblem), next);
  return {
    entries: parsed.servers,
    secrets: parsed.secrets,
    warnings: [...read.warnings, ...parsed.warnings].map(describeProblem),
  };
}

/** The secrets in mcp.json, also where the file has a mistake; none where it cannot be read. */
export async function serverSecrets(
  home: string,
  env: Environment,
): Promise<readonly KnownSecret[]> {
  const file = homePaths(home).servers;
  const read = await readSettingsFile(file).catch(() => undefined);
  if (read === undefined || namesNone(read.text)) return [];
  const { parseMcpSettings } = await import("@soong/mcp/settings");
  return parseMcpSettings(read.text, file, env).secrets;
}

/** Known without reading any further; anything else is read. */
function namesNone(text: string): boolean {
  try {
    const given = JSON.parse(text) as Readonly<Record<string, object>>;
    const [only = "mcpServers", ...more] = Object.keys(given);
    const { mcpServers = {} } = given;
    const isObject = !Array.isArray(given) && !Array.isArray(mcpServers);
    return (
      isObject && more.length === 0 && only === "mcpServers" && Object.keys(mcpServers).length === 0
    );
  } catch {
    return false;
  }
}

export type ServerChoice = "all" | "none" | { readonly only: string };

export interface RuntimeServersOptions {
  readonly env: Environment;
  readonly config: LoadedConfig;
  /** Where the agent works: no program of a server is taken from there (MCP-11). */
  readonly roots: Roots;
  readonly choice: ServerChoice;
  /** Someone is there whom a server may ask (MCP-5). */
  readonly canElicit: boolean;
  /** Whom a server may ask for what only a host has (GATE-2). */
  readonly host?: McpServersOptions["host"];
  /** For entries that want a sandbox (CMD-6). */
  readonly openSandbox?: OpenEntrySandbox;
  onWaiting?(server_ids: readonly string[]): void;
  /** A server that cannot be had, once for each. */
  onFailed?(failed: FailedServer): void;
}

export type FailedServer = Extract<ServerFact, { type: "mcp.server.failed" }>["data"];

export type OpenedServers = Awaited<ReturnType<Awaited<ReturnType<typeof runtimeServers>>["open"]>>;

/** A wait that is noticed wants an explanation. */
const TELL_AFTER_MS = 1000;

export async function runtimeServers(options: RuntimeServersOptions) {
  const { env, config, roots, choice, canElicit, host, openSandbox } = options;
  const { home, values } = config;
  const { entries: all, warnings } = await loadUserServers(home, env, values.mcp);
  const entries = all.filter(
    ({ server_id }) =>
      choice === "all" || (typeof choice === "object" && choice.only === server_id),
  );

  return {
    warnings,
    /** All of mcp.json, not only those that were chosen. */
    configured: all,
    /** Every token that comes later is added to the secrets. */
    async open(registry: Registry, secrets: KnownSecret[]) {
      if (entries.length === 0) {
        return { mcp: undefined, ready: async () => {}, watch: (_session: Session) => {} };
      }
      const facts = createServerFacts();
      const { watch } = facts;
      const named = new Set<string>();
      const record = (fact: ServerFact): void => {
        facts.record(fact);
        if (fact.type !== "mcp.server.failed" || named.has(fact.data.server_id)) return;
        named.add(fact.data.server_id);
        options.onFailed?.(fact.data);
      };
      const { createPins, openConnection, openMcpLogins, openMcpServers, openPinFile } =
        await import("@soong/mcp");
      const redactor = createRedactor({ secrets });
      const paths = homePaths(home);
      const logins = openMcpLogins(paths.logins);
      const pins = await createPins(openPinFile(paths.pins)).catch(refusePins);
      const mcp = openMcpServers({
        entries,
        registry,
        pins,
        connect: (entry) =>
          openConnection(entry, {
            environment: env,
            roots,
            logFile: paths.serverLog(entry.server_id),
            canElicit,
            canSample: host !== undefined,
            canListRoots: host !== undefined,
            logins,
            openSandbox,
            onRefusedHost: ({ host, port, why }) =>
              record({
                type: "mcp.server.host_refused",
                data: { server_id: entry.server_id, host, port, why },
                level: "warn",
              }),
            // Hidden from now on, in runs under way too: a token that is renewed may be in the very next answer.
            onSecret(secret) {
              if (!secrets.some(({ value }) => value === secret.value)) secrets.push(secret);
            },
            redactor,
          }),
        redactor,
        host,
        record,
      });
      return { mcp, ready: (signal: AbortSignal) => ready(mcp, signal), watch };
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

/** Without them it is not known what was allowed: nothing of a server is offered then. */
function refusePins(error: unknown): never {
  throw new SetupError(
    [messageOf(error)],
    "Fix that file, or move it away: every MCP tool is then new, and requires approval again.",
  );
}

/** For the loop: when the tools of servers are there, and what they say of them. Undefined: no servers. */
export function createToolProvider(
  { mcp, ready }: Pick<OpenedServers, "mcp" | "ready">,
  { instructions: isWanted }: SoongConfig["mcp"],
): ToolProvider | undefined {
  if (mcp === undefined) return undefined;
  return {
    ready,
    connecting: () => mcp.connecting(),
    notes: () =>
      mcp
        .status()
        .flatMap(({ server_id, tools, instructions: text }) =>
          isWanted && text !== undefined && tools.length > 0
            ? [{ from: `MCP server "${server_id}"`, text }]
            : [],
        ),
  };
}

/**
 * Facts about servers, in the journals they belong in (MCP-2, MCP-3): a server is the runtime's, and lives longer than a
 * run. A root run begins with how each server is by then, and records every change until it ends; its children do not.
 */
export function createServerFacts() {
  /** By server: how it is now, as a run that begins records it. */
  const current = new Map<string, ServerFact>();
  const runs = new Set<Run>();

  return {
    record: (fact: ServerFact): void => {
      remember(fact);
      for (const run of runs) {
        try {
          if (concerns(fact, run)) recordIn(run, fact);
        } catch {
          // A journal that fails ends its own session; the others continue.
        }
      }
    },
    /** From now on the runs of the session have the facts on record. */
    watch: (session: Session): void => {
      session.onRun((run) => {
        if (isRoot(run)) for (const fact of current.values()) recordIn(run, fact);
        runs.add(run);
        return () => runs.delete(run);
      });
    },
  };

  function remember(fact: ServerFact): void {
    const { server_id } = fact.data;
    if (fact.type === "mcp.server.connected" || fact.type === "mcp.server.failed") {
      current.set(server_id, fact);
    }
    const before = current.get(server_id);
    if (fact.type !== "mcp.server.tools_changed" || before === undefined) return;
    const data = { ...before.data, tools: fact.data.tools };
    current.set(server_id, { ...before, data } as ServerFact);
  }
}

/** What happened in one call is that run's; how a server is, is recorded by every root. */
function concerns({ type, data }: ServerFact, run: Run): boolean {
  return type === "mcp.server.host_request" ? data.run_id === run.identity.run_id : isRoot(run);
}

function isRoot({ identity }: Run): boolean {
  return identity.parent_run_id === undefined;
}

function recordIn({ recorder }: Run, { type, data, level }: ServerFact): void {
  recorder.record(type, data, undefined, level);
}
