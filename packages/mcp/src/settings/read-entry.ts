// One server of the file, with its defaults, or what is wrong with it.

import { isRecord, nearestName, omitUndefined } from "@soong/schema";
import { shape, type Place } from "@soong/platform";
import { ENTRY_KEYS, meaningOf, type EntryKey } from "./entry-keys.ts";
import type { Filler } from "./fill-variables.ts";
import { readTransport } from "./read-transport.ts";
import type { McpEntryDefaults, McpServerEntry } from "./server-entry.ts";
import { anyLine, lines, readValue, type GivenValue } from "./transport-input.ts";

const CALL_TIMEOUT_MS = 100_000;
const CONNECT_TIMEOUT_MS = 30_000;

/** What a timer of the platform holds. */
const milliseconds = shape.wholeNumber(1, 2 ** 31 - 1, "whole milliseconds");

interface GivenEntry extends GivenValue {
  readonly id: string;
  readonly origin: McpServerEntry["place"];
  readonly defaults: McpEntryDefaults;
}

/** Undefined where something was refused that the entry cannot be without. */
export function readEntry(server: GivenEntry, filler: Filler): McpServerEntry | undefined {
  const { value: written, place, defaults } = server;
  if (!isRecord(written)) {
    place.report("A server must be an object.");
    return undefined;
  }
  const { given, enabled } = readKeys(written, place);
  const transport = readTransport({ place, given, filler });

  const isEnabled = readValue(enabled, shape.flag);
  const network = readValue(given.get("network"), shape.flag);
  const hosts = readValue(given.get("hosts"), lines) ?? [];
  const description = readValue(given.get("description"), anyLine);
  const parallel = readNames(given.get("concurrency_safe"));
  const contradiction = networkContradiction(network, hosts, transport?.kind);
  if (contradiction !== undefined) given.get("network")?.place.report(contradiction);
  const entry = {
    disabled: readValue(given.get("disabled"), shape.flag) === true || isEnabled === false,
    disabled_tools: readValue(given.get("disabled_tools"), lines) ?? [],
    readonly_tools: readNames(given.get("readonly")) ?? [],
    ...(parallel === undefined || parallel === "all" ? {} : { concurrency_safe: parallel }),
    tags: readValue(given.get("tags"), lines) ?? [],
    network: network ?? true,
    hosts,
    ...omitUndefined({ description }),
    timeout_ms:
      readValue(given.get("timeout_ms"), milliseconds) ?? defaults.timeout_ms ?? CALL_TIMEOUT_MS,
    connect_timeout_ms:
      readValue(given.get("connect_timeout_ms"), milliseconds) ??
      defaults.connect_timeout_ms ??
      CONNECT_TIMEOUT_MS,
  };
  if (transport === undefined) return undefined;
  return {
    server_id: server.id,
    transport,
    ...entry,
    missing_variables: filler.missing,
    place: server.origin,
  };
}

function readKeys(written: Readonly<Record<string, unknown>>, entry: Place) {
  const given = new Map<EntryKey, GivenValue>();
  let enabled: GivenValue | undefined;
  for (const [name, value] of Object.entries(written)) {
    const place = entry.in(name);
    const meaning = meaningOf(name);
    if (meaning.kind === "enabled") enabled = { value, place };
    if (meaning.kind === "ignored") place.warnKey(`"${name}" ${meaning.why}.`);
    if (meaning.kind === "allow_list") {
      place.reportKey(
        `"${name}" is not supported: name the tools that are not wanted in "disabled_tools".`,
      );
    }
    if (meaning.kind === "unknown") {
      const nearest = nearestName(name, ENTRY_KEYS);
      const meant = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
      place.reportKey(`"${name}" is not a setting of a server.${meant}`);
    }
    if (meaning.kind !== "ours") continue;
    if (given.has(meaning.key)) {
      place.reportKey(`"${name}" says the same as another key: "${meaning.key}".`);
    }
    given.set(meaning.key, { value, place });
  }
  return { given, enabled };
}

/** `true` and `"all"` are every tool, `false` is none. */
function readNames(given: GivenValue | undefined): readonly string[] | "all" | undefined {
  if (given === undefined) return undefined;
  if (Array.isArray(given.value)) return readValue(given, lines);
  if (given.value === "all") return "all";
  return readValue(given, shape.flag) === true ? "all" : [];
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
