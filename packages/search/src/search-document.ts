// What the index reads of a tool, and how it is taken from a definition. Schemas come from outside
// servers, so the walk is breadth first and bounded in nodes, depth and text.

import { isRecord } from "@soong/schema";

/** The searchable text of one tool. */
export interface SearchDocument {
  name: string;
  aliases?: readonly string[];
  title?: string;
  search_hint?: string;
  description: string;
  /** Names of parameters, nested ones too. */
  parameters?: readonly string[];
  /** Descriptions, titles and allowed words of the parameters, in one text. */
  parameter_text?: string;
  tags?: readonly string[];
}

/** The part of a tool definition that can be searched. */
export interface SearchableTool {
  name: string;
  aliases?: readonly string[] | undefined;
  title?: string | undefined;
  search_hint?: string | undefined;
  description: string;
  input_schema?: unknown;
  tags?: readonly string[] | undefined;
}

export function searchDocumentOf(tool: SearchableTool): SearchDocument {
  const { names, text } = parametersOf(tool.input_schema);
  const document: SearchDocument = { name: tool.name, description: tool.description };
  if (tool.aliases?.length) document.aliases = tool.aliases;
  if (tool.title) document.title = tool.title;
  if (tool.search_hint) document.search_hint = tool.search_hint;
  if (names.length > 0) document.parameters = names;
  if (text !== "") document.parameter_text = text;
  if (tool.tags?.length) document.tags = tool.tags;
  return document;
}

const MAX_NODES = 400;
const MAX_DEPTH = 8;
const MAX_NAMES = 200;
const MAX_TEXT_CHARS = 8_000;
const MAX_DESCRIPTION_CHARS = 1_000;
const MAX_ENUM_WORDS = 24;
const MAX_ENUM_CHARS = 40;

const SINGLE_SCHEMAS = ["items", "additionalProperties"] as const;
const SCHEMA_LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"] as const;
const SCHEMA_MAPS = ["$defs", "definitions"] as const;

interface Found {
  names: string[];
  text: string;
}

function parametersOf(schema: unknown): Found {
  const found: Found = { names: [], text: "" };
  const seenNames = new Set<string>();
  let level: unknown[] = [schema];
  let nodes = 0;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth += 1) {
    const next: unknown[] = [];
    for (const node of level) {
      if (!isRecord(node)) continue;
      nodes += 1;
      if (nodes > MAX_NODES) return found;
      // The root's own title and description repeat the tool's.
      if (depth > 0) readTexts(node, found);
      readProperties(node, found, seenNames, next);
      queueSubschemas(node, next);
    }
    level = next;
  }
  return found;
}

function readProperties(
  node: Record<string, unknown>,
  found: Found,
  seenNames: Set<string>,
  next: unknown[],
): void {
  const properties = node["properties"];
  if (!isRecord(properties) || found.names.length >= MAX_NAMES) return;
  for (const name of Object.keys(properties).slice(0, MAX_NAMES)) {
    if (!seenNames.has(name) && found.names.length < MAX_NAMES) {
      seenNames.add(name);
      found.names.push(name.slice(0, MAX_DESCRIPTION_CHARS));
    }
    pushBounded(next, properties[name]);
  }
}

function readTexts(node: Record<string, unknown>, found: Found): void {
  if (typeof node["title"] === "string") appendText(found, node["title"]);
  if (typeof node["description"] === "string") appendText(found, node["description"]);
  if (Array.isArray(node["enum"])) {
    for (const value of node["enum"].slice(0, MAX_ENUM_WORDS) as unknown[]) {
      if (typeof value === "string" && value.length <= MAX_ENUM_CHARS) appendText(found, value);
    }
  }
}

function queueSubschemas(node: Record<string, unknown>, next: unknown[]): void {
  for (const key of SINGLE_SCHEMAS) if (isRecord(node[key])) pushBounded(next, node[key]);
  for (const key of SCHEMA_LISTS) {
    const list = node[key];
    if (Array.isArray(list)) for (const item of list.slice(0, MAX_NODES)) pushBounded(next, item);
  }
  for (const key of SCHEMA_MAPS) {
    const map = node[key];
    if (!isRecord(map)) continue;
    for (const name of Object.keys(map).slice(0, MAX_NODES)) pushBounded(next, map[name]);
  }
}

function pushBounded(queue: unknown[], node: unknown): void {
  if (queue.length < MAX_NODES) queue.push(node);
}

function appendText(found: Found, text: string): void {
  const room = MAX_TEXT_CHARS - found.text.length;
  if (room <= 0) return;
  found.text += `${text.slice(0, Math.min(room, MAX_DESCRIPTION_CHARS))}\n`;
}
