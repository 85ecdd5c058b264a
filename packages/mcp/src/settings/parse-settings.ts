// The text of mcp.json: `{"mcpServers": {"<id>": {…}}}`, the form every host of this ecosystem reads. All
// problems are reported at once, in the order of the file.

import { isRecord, nearestName } from "@soong/schema";
import { checkDocument, parseDocument, type Place } from "@soong/platform";
import { createFiller, secretsInText, type Environment } from "./fill-variables.ts";
import { readEntry } from "./read-entry.ts";
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

/** `file` is the name problems go by; `environment` is where `${NAME}` is looked up. */
export function parseMcpSettings(
  text: string,
  file: string,
  environment: Environment = process.env,
  defaults: McpEntryDefaults = {},
): ParsedMcpSettings {
  if (text.length > MAX_CHARS) {
    const message = `is too large: at most ${MAX_CHARS} characters are read`;
    const problems = [{ file, line: 1, column: 1, message }];
    return { ok: false, problems, secrets: secretsInText(text, environment), warnings: [] };
  }
  const parsed = parseDocument(text, file, "jsonc");
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
      const origin = { file, line: document.positionOf(place.path, "key").line };
      const filler = createFiller(environment);
      const entry = readEntry({ id, value: written, place, origin, defaults }, filler);
      secrets.push(...filler.secrets);
      if (entry !== undefined) servers.push(entry);
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
