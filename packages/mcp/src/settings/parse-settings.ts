// The text of mcp.json: `{"mcpServers": {"<id>": {…}}}`, the form every host of this ecosystem reads. All
// problems are told at once, in the order of the file.

import { nearestName } from "@soong/core";
import type { Node } from "jsonc-parser";
import { createFiller, type Environment } from "./fill-variables.ts";
import { membersOf, placeAt, readJsonDocument, type Finding } from "./json-document.ts";
import { readEntry } from "./read-entry.ts";
import type {
  McpEntryDefaults,
  McpSecret,
  McpServerEntry,
  McpSettingsProblem,
  ParsedMcpSettings,
} from "./server-entry.ts";

const ROOT = "mcpServers";
/** A segment of `mcp.<server_id>.<tool_name>`: a dot in it would make two servers one. */
const SERVER_ID = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;
const LONGEST_ID = 64;

/** `file` is the name problems go by; `environment` is where `${NAME}` is looked up. */
export function parseMcpSettings(
  text: string,
  file: string,
  environment: Environment = process.env,
  defaults: McpEntryDefaults = {},
): ParsedMcpSettings {
  const problems: Finding[] = [];
  const warnings: Finding[] = [];
  const servers: McpServerEntry[] = [];
  const secrets: McpSecret[] = [];
  const ids: string[] = [];
  const document = readJsonDocument(text);
  if (document.ok) {
    for (const { name, keyOffset, value } of serversIn(document.root, problems, warnings)) {
      const key = `${ROOT}.${name}`;
      const idProblem = serverIdProblem(name) ?? sameFilesProblem(name, ids);
      ids.push(name);
      if (idProblem !== undefined) problems.push({ offset: keyOffset, key, message: idProblem });
      const place = { file, line: placeAt(text, keyOffset).line };
      const filler = createFiller(environment);
      const given = { id: name, key, offset: keyOffset, node: value, place, defaults };
      const entry = readEntry(given, filler, {
        refuse: (finding) => problems.push(finding),
        warn: (finding) => warnings.push(finding),
      });
      secrets.push(...filler.secrets);
      if (entry !== undefined) servers.push(entry);
    }
  } else {
    problems.push(...document.findings);
  }
  const located = (findings: Finding[]) => findings.map((finding) => locate(finding, text, file));
  return problems.length > 0
    ? { ok: false, problems: inOrder(located(problems)), warnings: inOrder(located(warnings)) }
    : { ok: true, servers, secrets, warnings: inOrder(located(warnings)) };
}

function serversIn(root: Node, problems: Finding[], warnings: Finding[]) {
  if (root.type !== "object") {
    const message = `The file must hold an object: {"${ROOT}": {…}}.`;
    problems.push({ offset: root.offset, key: "", message });
    return [];
  }
  const members = membersOf(root);
  for (const { name, keyOffset } of members) {
    if (name === ROOT || name === "$schema") continue;
    const at = { offset: keyOffset, key: name };
    // A file shared with another host may hold that host's other settings; a near miss is a mistake.
    if (name === "servers" || nearestName(name, [ROOT]) !== undefined) {
      const message = `"${name}" is not known here; the servers stand under "${ROOT}".`;
      problems.push({ ...at, message, nearest: ROOT });
    } else {
      warnings.push({ ...at, message: `"${name}" has no effect here.` });
    }
  }
  const servers = members.find(({ name }) => name === ROOT)?.value;
  if (servers === undefined) return [];
  if (servers.type === "object") return membersOf(servers);
  const message = "This must be an object of servers by their ids.";
  problems.push({ offset: servers.offset, key: ROOT, message });
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

function locate({ offset, key, message, nearest }: Finding, text: string, file: string) {
  const { line, column } = placeAt(text, offset);
  return { file, line, column, key, message, ...(nearest === undefined ? {} : { nearest }) };
}

function inOrder(problems: McpSettingsProblem[]): McpSettingsProblem[] {
  return problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
}
