// One server of the file, with its defaults, or what is wrong with it.

import { nearestName } from "@soong/core";
import type { Node } from "jsonc-parser";
import { ENTRY_KEYS, meaningOf, type EntryKey } from "./entry-keys.ts";
import type { Filler } from "./fill-variables.ts";
import { membersOf, type Finding } from "./json-document.ts";
import { readTransport } from "./read-transport.ts";
import { createValueReader } from "./read-values.ts";
import type { McpEntryDefaults, McpServerEntry } from "./server-entry.ts";

export interface EntryReport {
  readonly refuse: (finding: Finding) => void;
  readonly warn: (finding: Finding) => void;
}

const CALL_TIMEOUT_MS = 100_000;
const CONNECT_TIMEOUT_MS = 30_000;

interface GivenEntry {
  readonly id: string;
  readonly key: string;
  readonly offset: number;
  readonly node: Node;
  readonly place: McpServerEntry["place"];
  readonly defaults: McpEntryDefaults;
}

/** Undefined where something was refused that the entry cannot be without. */
export function readEntry(
  server: GivenEntry,
  filler: Filler,
  report: EntryReport,
): McpServerEntry | undefined {
  const { key, offset, defaults } = server;
  if (server.node.type !== "object") {
    report.refuse({ offset: server.node.offset, key, message: "A server must be an object." });
    return undefined;
  }
  const read = createValueReader(report.refuse);
  const { given, enabled } = keysOf(server.node, key, report);
  const transport = readTransport({ offset, key, given, read, filler, ...report });

  const value = <T>(name: EntryKey, as: (node: Node, at: string) => T | undefined) => {
    const node = given.get(name);
    return node === undefined ? undefined : as(node, `${key}.${name}`);
  };
  const isEnabled = enabled === undefined ? true : read.flag(enabled, `${key}.enabled`);
  const network = value("network", read.flag);
  const hosts = value("hosts", read.texts) ?? [];
  const description = value("description", read.text);
  const parallel = value("concurrency_safe", (node, at) => namesOrAll(node, at, read));
  const contradiction = networkContradiction(network, hosts, transport?.kind);
  if (contradiction !== undefined) {
    const at = given.get("network")?.offset ?? offset;
    report.refuse({ offset: at, key: `${key}.network`, message: contradiction });
  }
  const entry = {
    disabled: value("disabled", read.flag) === true || isEnabled === false,
    disabled_tools: value("disabled_tools", read.texts) ?? [],
    readonly_tools: value("readonly", (node, at) => namesOrAll(node, at, read)) ?? [],
    ...(parallel === undefined || parallel === "all" ? {} : { concurrency_safe: parallel }),
    tags: value("tags", read.texts) ?? [],
    network: network ?? true,
    hosts,
    ...(description === undefined ? {} : { description }),
    timeout_ms: value("timeout_ms", read.milliseconds) ?? defaults.timeout_ms ?? CALL_TIMEOUT_MS,
    connect_timeout_ms:
      value("connect_timeout_ms", read.milliseconds) ??
      defaults.connect_timeout_ms ??
      CONNECT_TIMEOUT_MS,
  };
  if (transport === undefined) return undefined;
  return {
    server_id: server.id,
    transport,
    ...entry,
    missing_variables: filler.missing,
    place: server.place,
  };
}

function keysOf(node: Node, key: string, report: EntryReport) {
  const given = new Map<EntryKey, Node>();
  let enabled: Node | undefined;
  for (const { name, keyOffset, value } of membersOf(node)) {
    const at = { offset: keyOffset, key: `${key}.${name}` };
    const meaning = meaningOf(name);
    if (meaning.kind === "enabled") enabled = value;
    if (meaning.kind === "ignored") report.warn({ ...at, message: `"${name}" ${meaning.why}.` });
    if (meaning.kind === "allow_list") {
      const message = `"${name}" is not supported: name the tools that are not wanted in "disabled_tools".`;
      report.refuse({ ...at, message, nearest: "disabled_tools" });
    }
    if (meaning.kind === "unknown") {
      const nearest = nearestName(name, ENTRY_KEYS);
      const meant = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
      const message = `"${name}" is not a setting of a server.${meant}`;
      report.refuse({ ...at, message, ...(nearest === undefined ? {} : { nearest }) });
    }
    if (meaning.kind !== "ours") continue;
    if (given.has(meaning.key)) {
      report.refuse({
        ...at,
        message: `"${name}" says the same as another key: "${meaning.key}".`,
      });
    }
    given.set(meaning.key, value);
  }
  return { given, enabled };
}

/** `true` and `"all"` are every tool, `false` is none. */
function namesOrAll(
  node: Node,
  at: string,
  read: ReturnType<typeof createValueReader>,
): readonly string[] | "all" | undefined {
  if (node.type === "array") return read.texts(node, at);
  if (node.value === "all") return "all";
  const flag = read.flag(node, at);
  return flag === true ? "all" : [];
}

function networkContradiction(
  network: boolean | undefined,
  hosts: readonly string[],
  kind: "stdio" | "http" | undefined,
): string | undefined {
  if (network !== false) return undefined;
  if (kind === "http")
    return 'A server with "url" is reached over the network: this cannot be false.';
  return hosts.length > 0 ? '"hosts" is given, so "network" cannot be false.' : undefined;
}
