// The text of mcp.json: `{"mcpServers": {"<id>": {…}}}`, the form every host of this ecosystem reads. All
// problems are reported at once, in the order of the file.

import { isRecord, nearestName, omitUndefined } from "@soong/schema";
import { checkDocument, parseDocument, shape, type Place } from "@soong/platform";
import { createFiller, secretsInText, type Environment, type Filler } from "./fill-variables.ts";
import { anyLine, ENTRY, lines, readKeys, readValue, type GivenValue } from "./read-keys.ts";
import { readTransport } from "./read-transport.ts";
import type {
  McpEntryDefaults,
  McpSecret,
  McpServerEntry,
  ParsedMcpSettings,
} from "./server-entry.ts";

const ROOT = "mcpServers";
/** A segment of `mcp.<server_id>.<tool_name>`: a dot in it would make two servers one. */
const SERVER_ID = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;
const LONGEST_ID = 64;

/** No list of servers is larger; what is was not written by a user. */
const MAX_CHARS = 1_000_000;

const CALL_TIMEOUT_MS = 100_000;
const CONNECT_TIMEOUT_MS = 30_000;
/** What a timer of the platform holds. */
const milliseconds = shape.wholeNumber(1, 2 ** 31 - 1, "whole milliseconds");

/** `file` is the name problems go by; `environment` is where `${NAME}` is looked up. */
export function parseMcpSettings(
  text: string,
  file: string,
  environment: Environment = process.env,
  defaults: McpEntryDefaults = {},
): ParsedMcpSettings {
  const message = `is too large: at most ${MAX_CHARS} characters are read`;
  const parsed =
    text.length > MAX_CHARS
      ? ({ ok: false, problems: [{ file, line: 1, column: 1, message }] } as const)
      : parseDocument(text, file, "jsonc");
  if (!parsed.ok) {
    return { ...parsed, secrets: secretsInText(text, environment), warnings: [] };
  }
  const { document } = parsed;
  const servers: McpServerEntry[] = [];
  const secrets: McpSecret[] = [];
  const checked = checkDocument(document, (value, root) => {
    const ids: string[] = [];
    for (const [id, written, place] of readServers(value, root)) {
      const problem = serverIdProblem(id) ?? sameFilesProblem(id, ids);
      ids.push(id);
      if (problem !== undefined) place.reportKey(problem);
      const filler = createFiller(environment);
      const entry = readEntry({ value: written, place }, filler, defaults);
      secrets.push(...filler.secrets);
      if (entry === undefined) continue;
      const { line } = document.positionOf(place.path, "key");
      const missing_variables = filler.missing;
      servers.push({ server_id: id, ...entry, missing_variables, place: { file, line } });
    }
  });
  const { warnings } = checked;
  if (checked.ok) return { ok: true, servers, secrets, warnings };
  secrets.push(...secretsInText(text, environment));
  return { ok: false, problems: checked.problems, secrets, warnings };
}

function readServers(value: unknown, root: Place): [id: string, written: unknown, place: Place][] {
  if (!isRecord(value)) {
    root.report(`The file must hold an object: {"${ROOT}": {…}}.`);
    return [];
  }
  for (const name of Object.keys(value)) {
    if (name === ROOT || name === "$schema") continue;
    // A file shared with another host may hold that host's other settings; a near miss is a mistake.
    if (name === "servers" || nearestName(name, [ROOT]) !== undefined) {
      root.in(name).reportKey(`"${name}" is not known here; the servers are under "${ROOT}".`);
    } else root.in(name).warnKey(`"${name}" has no effect here.`);
  }
  if (!Object.hasOwn(value, ROOT)) return [];
  const servers = value[ROOT];
  if (isRecord(servers)) {
    return Object.entries(servers).map(([id, written]) => [id, written, root.in(ROOT, id)]);
  }
  root.in(ROOT).report("This must be an object of servers by their ids.");
  return [];
}

function serverIdProblem(id: string): string | undefined {
  if (id.length > LONGEST_ID) return `A server's id has at most ${LONGEST_ID} characters.`;
  return SERVER_ID.test(id) && id !== "__proto__"
    ? undefined
    : `"${id}" cannot be part of a tool's name (mcp.<server>.<tool>): letters, digits, "_" and "-" only.`;
}

/** Its log and its login are files under its id, and some disks do not tell "A" from "a". */
function sameFilesProblem(id: string, others: readonly string[]): string | undefined {
  const other = others.find((one) => one !== id && one.toLowerCase() === id.toLowerCase());
  if (other === undefined) return undefined;
  return `"${id}" differs from "${other}" by nothing but capital letters. Give one of them another id.`;
}

/** One server, with its defaults. Undefined where something was refused that it cannot be without. */
function readEntry(
  { value: written, place }: GivenValue,
  filler: Filler,
  defaults: McpEntryDefaults,
): Omit<McpServerEntry, "server_id" | "missing_variables" | "place"> | undefined {
  if (!isRecord(written)) {
    place.report("A server must be an object.");
    return undefined;
  }
  const given = readKeys(written, place, ENTRY);
  const transport = readTransport(given, place, filler);
  const isEnabled = readValue(given.get("enabled"), shape.flag);
  const isDisabled = readValue(given.get("disabled"), shape.flag);
  const said = readValue(given.get("network"), shape.flag);
  const hosts = readValue(given.get("hosts"), lines) ?? [];
  const description = readValue(given.get("description"), anyLine);
  const parallel = readNames(given.get("concurrency_safe"));
  const network = said ?? (transport?.kind === "http" || hosts.length > 0 ? true : undefined);
  if (said === false && transport?.kind === "http") {
    const message = 'A server with "url" is reached over the network: this cannot be false.';
    given.get("network")?.place.report(message);
  } else if (said === false && hosts.length > 0) {
    given.get("network")?.place.report('"hosts" is given, so "network" cannot be false.');
  }
  const entry = {
    disabled: isDisabled === true || isEnabled === false,
    disabled_tools: readValue(given.get("disabled_tools"), lines) ?? [],
    readonly_tools: readNames(given.get("readonly")) ?? [],
    ...omitUndefined({ concurrency_safe: parallel === "all" ? undefined : parallel }),
    tags: readValue(given.get("tags"), lines) ?? [],
    ...omitUndefined({ network }),
    hosts,
    ...omitUndefined({ description }),
    timeout_ms:
      readValue(given.get("timeout_ms"), milliseconds) ?? defaults.timeout_ms ?? CALL_TIMEOUT_MS,
    connect_timeout_ms:
      readValue(given.get("connect_timeout_ms"), milliseconds) ??
      defaults.connect_timeout_ms ??
      CONNECT_TIMEOUT_MS,
  };
  return transport && { transport, ...entry };
}

/** `true` and `"all"` are every tool, `false` is none. */
function readNames(given: GivenValue | undefined): readonly string[] | "all" | undefined {
  if (given === undefined) return undefined;
  if (Array.isArray(given.value)) return readValue(given, lines);
  if (given.value === "all") return "all";
  return readValue(given, shape.flag) === true ? "all" : [];
}
