// One server as a source of tools: connected when needed, listed, and listed again when it says so. Its
// tools are in the registry while it is there; else they are excluded, each with the reason.

import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import {
  createRedactor,
  canonicalJson,
  messageOf,
  type AnyTool,
  type Clock,
  type ExcludedTool,
  type FactContent,
  type FactType,
  type JsonObject,
  type JsonValue,
  type Redactor,
  type Registry,
  type ToolContext,
} from "@soong/core";
import { omitUndefined } from "@soong/schema";
import { inTime } from "@soong/platform";
import { buildCatalog, canonicalName, type Catalog } from "../catalog/build-catalog.ts";
import { definitionHash, type Pins, type PinState } from "../catalog/pins.ts";
import { listTools, type ListedTools } from "../catalog/list-tools.ts";
import { safeLine, safeText } from "../catalog/safe-text.ts";
import type { McpHost } from "../call/ask-server.ts";
import { McpServerFailure } from "../connection/failure.ts";
import type { ConnectedServer, McpConnection, McpEra } from "../connection/connected-server.ts";
import type { McpServerEntry } from "../settings/index.ts";
import { needsSetUp, toolHandlers, type GetCurrentServer } from "./tool-handler.ts";

/** One fact of a server, before it is recorded. */
export type ServerFact = FactContent<
  Exclude<Extract<FactType, `mcp.server.${string}`>, "mcp.server.elicitation">
>;

export type RecordServerFact = (fact: ServerFact) => void;

export interface McpServerStatus {
  readonly server_id: string;
  readonly state: "disabled" | "idle" | "connecting" | "connected" | "failed" | "closed";
  /** Names of ours, in the server's order. */
  readonly tools: readonly string[];
  readonly excluded: readonly ExcludedTool[];
  readonly era?: McpEra;
  readonly protocol_version?: string;
  readonly server_info?: { readonly name: string; readonly version: string };
  /** What the server wants a model to know: its words, bounded and made safe. */
  readonly instructions?: string;
  /** Why it failed. */
  readonly message?: string;
}

export interface AcceptedChange {
  readonly tool_name: string;
  /** Of the definition as it is now. */
  readonly hash: string;
  readonly changes: readonly string[];
}

/** A tool as the server defines it now, and whether that is what was allowed (MCP-7). */
export interface ServerDefinition {
  readonly tool_name: string;
  readonly description?: string;
  readonly input_schema: JsonObject;
  readonly output_schema?: JsonObject;
  readonly hash: string;
  /** `unpinned`: no call of it was allowed yet. */
  readonly pin: PinState["kind"];
}

/** Tools beside those a server lists; a name that is taken, or switched off in the entry, is omitted. */
export type MoreTools = (about: {
  readonly entry: McpServerEntry;
  readonly server: ConnectedServer;
  readonly current: GetCurrentServer;
}) => readonly AnyTool[];

export type ServerSource = ReturnType<typeof openServerSource>;

export interface ServerSourceParts {
  readonly entry: McpServerEntry;
  readonly registry: Registry;
  readonly connect: (entry: McpServerEntry) => McpConnection;
  readonly pins: Pins;
  readonly record: RecordServerFact;
  /** Knows the secrets of the user: none of what a server says of itself shows one (REDACT-3). */
  readonly redactor: Redactor;
  readonly host?: McpHost | undefined;
  readonly clock: Clock;
}

interface Listed {
  readonly server: ConnectedServer;
  readonly list: ListedTools;
  readonly catalog: Catalog;
  readonly fingerprint: string;
}

/** A server may say so as often as it likes; listed again at once is not more often than this. */
const RELIST_MS = 1_000;
const LIST_TIMEOUT_MS = 60_000;
const MAX_NAMES = 50;
const MAX_INSTRUCTIONS_CHARS = 8_000;
const MAX_MESSAGE_CHARS = 1_000;

export function openServerSource(parts: ServerSourceParts) {
  const { entry, registry, pins, clock, redactor } = parts;
  const { server_id } = entry;
  const everyTool = canonicalName(server_id, "*");
  const handlerFor = toolHandlers({ entry, pins, current, record, host: parts.host });
  const connection = entry.disabled ? undefined : parts.connect(entry);
  let excluded: readonly ExcludedTool[] = [
    entry.disabled
      ? { tool_name: everyTool, reason: "disabled", detail: `disabled in ${entry.place.file}` }
      : { tool_name: everyTool, reason: "server_failed", detail: "it has not answered yet" },
  ];
  const handle = registry.open({
    id: server_id,
    kind: "mcp",
    trusted: false,
    permission_from: "user",
    file: entry.place.file,
    ...describeReach(entry),
    tools: [],
    excluded,
  });
  /** Tools it had when it was last there: they are what its failure costs. */
  let known: readonly string[] = [];
  let listed: Listed | undefined;
  let failure: string | undefined;
  let running: Promise<void> | undefined;
  let isStale = false;
  let listedAt = Number.NEGATIVE_INFINITY;
  let closing: Promise<void> | undefined;
  let relistLater: (() => void) | undefined;
  let more: MoreTools = () => [];
  const ending = new AbortController();
  const stopListening = [
    connection?.onToolsChanged(() => {
      isStale = true;
      if (listed === undefined || relistLater !== undefined) return;
      const early = RELIST_MS - (clock.monotonic() - listedAt);
      if (early <= 0) void refresh();
      else {
        relistLater = clock.after(early, () => {
          relistLater = undefined;
          void refresh();
        });
      }
    }),
    connection?.onStateChanged((state) => {
      if (state.kind === "failed") fail(state.failure);
    }),
  ];

  return {
    /** Connects and lists where that is due. Never rejects. */
    refresh,
    status,
    readonlyTools,
    definitions,
    changes,
    accept,
    /** Nothing where it is disabled. */
    connection,
    alsoOffer(given: MoreTools): void {
      more = given;
      if (listed !== undefined) handle.set(createTools(listed.server, listed.catalog), excluded);
    },
    close,
  };

  function refresh(): Promise<void> {
    if (connection === undefined || closing !== undefined) return Promise.resolve();
    running ??= connectAndList(connection).finally(() => {
      running = undefined;
    });
    return running;
  }

  async function connectAndList(to: McpConnection): Promise<void> {
    try {
      const server = await to.connected(ending.signal);
      if (listed?.server === server && !isStale) return;
      isStale = false;
      const list = await listInTime(server);
      if (closing === undefined) show(server, withoutSecrets(list));
    } catch (error) {
      // That the server is gone says more than that a request to it failed.
      fail(to.state.kind === "failed" ? to.state.failure : error);
    }
  }

  /** A server that never answers has no tools. */
  async function listInTime(server: ConnectedServer): Promise<ListedTools> {
    const abort = new AbortController();
    const listing = listTools(server, AbortSignal.any([ending.signal, abort.signal]));
    const listed = await inTime(listing, { ms: LIST_TIMEOUT_MS, clock });
    if (listed.kind === "done") return listed.value;
    abort.abort();
    throw new Error(`it did not list its tools within ${LIST_TIMEOUT_MS} ms`);
  }

  function show(server: ConnectedServer, list: ListedTools): void {
    const catalog = buildCatalog(entry, list, pins, handlerFor);
    const before = listed;
    const hashes = [...catalog.offered.values()].map(definitionHash);
    const fingerprint = canonicalJson({ hashes, excluded: catalog.excluded });
    listed = { server, list, catalog, fingerprint };
    listedAt = clock.monotonic();
    failure = undefined;
    excluded = catalog.excluded;
    known = catalog.tools.map(({ name }) => name);
    // The same tools again are no change of the surface.
    if (before?.fingerprint !== fingerprint) {
      handle.set(createTools(server, catalog), catalog.excluded);
    }
    if (before?.server !== server) {
      const counts = { tools: catalog.tools.length, excluded: catalog.excluded.length };
      const data = { server_id, era: server.era, ...describe(server), ...counts };
      record({ type: "mcp.server.connected", data, level: "info" });
    } else if (before.fingerprint !== fingerprint) {
      const data = { server_id, ...changesBetween(before.catalog, catalog) };
      record({ type: "mcp.server.tools_changed", data, level: "info" });
    }
  }

  /**
   * Before anything else sees it: registry, pins, lists and model requests hold what comes out here. Keys are numbered for each
   * tool anew: a pin must not depend on what else the run has seen.
   */
  function withoutSecrets(list: ListedTools): ListedTools {
    const tools = redactor.value(list.tools as JsonValue[], { scope: "known_values" });
    return { ...list, tools: tools.map((tool) => createRedactor().value(tool)) };
  }

  function describe({ protocol_version, server_info }: ConnectedServer) {
    const { name, version } = server_info;
    return redactor.value({
      protocol_version,
      server_info: { name: safeLine(name, 200), version: safeLine(version, 100) },
    });
  }

  function createTools(server: ConnectedServer, { tools, offered }: Catalog): readonly AnyTool[] {
    const isFree = ({ name }: AnyTool): boolean => {
      const own = name.slice(canonicalName(server_id, "").length);
      return !offered.has(own) && !entry.disabled_tools.includes(own);
    };
    return [...tools, ...more({ entry, server, current }).filter(isFree)];
  }

  function fail(error: unknown): void {
    if (closing !== undefined) return;
    const message = safeLine(redactor.text(messageOf(error)), MAX_MESSAGE_CHARS);
    const isNews = failure !== message;
    listed = undefined;
    failure = message;
    if (!isNews) return;
    const reason = needsSetUp(error) ? "setup_required" : "server_failed";
    const names = known.length === 0 ? [everyTool] : known;
    excluded = names.map((tool_name) => ({ tool_name, reason, detail: message }));
    handle.set([], excluded);
    const why = error instanceof McpServerFailure ? error.reason : "protocol";
    const data = { server_id, reason: why, message, tools: known.length };
    record({ type: "mcp.server.failed", data, level: "warn" });
  }

  /** A server that was restarted may not be the one it was: it is listed again before it is called. */
  async function current(signal: ToolContext["signal"]) {
    const server = await connection?.connected(signal);
    if (listed?.server !== server || isStale) await refresh();
    if (server !== undefined && listed?.server === server) {
      return { server, offered: listed.catalog.offered };
    }
    throw new Error(failure ?? "its tools could not be listed");
  }

  function definitions(): readonly ServerDefinition[] {
    const { offered, changed = [] } = listed?.catalog ?? {};
    return [...(offered?.values() ?? []), ...changed].map((tool) => {
      const { name, description, input_schema, output_schema } = tool;
      return {
        tool_name: canonicalName(server_id, name),
        input_schema,
        hash: definitionHash(tool),
        pin: pins.check(server_id, tool).kind,
        ...omitUndefined({ description, output_schema }),
      };
    });
  }

  function changes(): readonly AcceptedChange[] {
    const changed = listed?.catalog.changed ?? [];
    return changed.map((tool) => {
      const state = pins.check(server_id, tool);
      const words = state.kind === "changed" ? state.changes : [];
      const tool_name = canonicalName(server_id, tool.name);
      return { tool_name, hash: definitionHash(tool), changes: words };
    });
  }

  async function accept(shown?: readonly AcceptedChange[]): Promise<readonly AcceptedChange[]> {
    await refresh();
    if (listed === undefined) {
      const why = failure ?? (entry.disabled ? "it is disabled" : "it is closed");
      throw new Error(`the MCP server "${server_id}" cannot be asked for its tools: ${why}`);
    }
    const { server, list, catalog } = listed;
    const accepted = changes();
    if (
      shown !== undefined &&
      canonicalJson(listHashes(shown)) !== canonicalJson(listHashes(accepted))
    )
      throw new Error(
        `the MCP server "${server_id}" has changed its tools again since its changes were shown; look at them once more`,
      );
    await pins.accept(server_id, catalog.changed);
    if (accepted.length > 0 && closing === undefined) show(server, list);
    return accepted;
  }

  function status(): McpServerStatus {
    const { server, catalog } = listed ?? {};
    const given = redactor.text(server?.instructions ?? "");
    const instructions = safeText(given, MAX_INSTRUCTIONS_CHARS).trim();
    return {
      server_id,
      state: stateNow(),
      tools: catalog?.tools.map(({ name }) => name) ?? [],
      excluded,
      ...(server && { era: server.era, ...describe(server) }),
      ...omitUndefined({ instructions: instructions || undefined, message: failure }),
    };
  }

  /** Names written out count before the server has answered; "all" is only about what is there. */
  function readonlyTools(): readonly string[] {
    const { readonly_tools } = entry;
    if (readonly_tools !== "all")
      return readonly_tools.map((name) => canonicalName(server_id, name));
    const tools = listed?.catalog.tools ?? [];
    return tools.flatMap(({ name, permission }) => (permission === "readonly" ? [name] : []));
  }

  function stateNow(): McpServerStatus["state"] {
    if (closing !== undefined) return "closed";
    if (connection === undefined) return "disabled";
    if (listed !== undefined) return "connected";
    if (running !== undefined) return "connecting";
    return failure === undefined ? "idle" : "failed";
  }

  function close(): Promise<void> {
    closing ??= (async () => {
      for (const stop of stopListening) stop?.();
      relistLater?.();
      ending.abort();
      handle.close();
      excluded = [];
      listed = undefined;
      await connection?.close();
    })();
    return closing;
  }

  /** A journal that fails ends its own session; a server is not the place to notice. */
  function record(fact: ServerFact): void {
    try {
      parts.record(fact);
    } catch {
      // As above.
    }
  }
}

function listHashes(changes: readonly AcceptedChange[]): string[] {
  return changes.map(({ hash }) => hash).toSorted();
}

/** By the server's own names; of many only the first. */
function changesBetween(before: Catalog, after: Catalog) {
  const added: string[] = [];
  const changed: string[] = [];
  for (const [name, tool] of after.offered) {
    const old = before.offered.get(name);
    if (old === undefined) added.push(name);
    else if (definitionHash(old) !== definitionHash(tool)) changed.push(name);
  }
  const removed = [...before.offered.keys()].filter((name) => !after.offered.has(name));
  return {
    tools: after.tools.length,
    added: added.slice(0, MAX_NAMES),
    removed: removed.slice(0, MAX_NAMES),
    changed: changed.slice(0, MAX_NAMES),
  };
}

/** What rules can be about: its host, and the folders it may begin with in a relative path. */
function describeReach({ tags, network, transport }: McpServerEntry) {
  // A remote server is on the network, even if its entry denies it.
  if (transport.kind === "http") {
    const host = URL.canParse(transport.url) ? { host: new URL(transport.url).hostname } : {};
    return { tags: withNetwork(tags), ...host, directories: [] };
  }
  // Where it runs, and the folders its command line names.
  const directories = [
    transport.cwd ?? homedir(),
    ...transport.args.filter((arg) => isAbsolute(arg)),
  ];
  return { tags: network === true ? withNetwork(tags) : tags, directories };
}

function withNetwork(tags: readonly string[]): readonly string[] {
  return [...new Set([...tags, "network"])];
}
