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

export function createSearchDocument(tool: SearchableTool): SearchDocument {
  const { name, description, aliases, title, search_hint, tags } = tool;
  const { names, text } = readParameters(tool.input_schema);
  const document: SearchDocument = { name, description };
  if (aliases?.length) document.aliases = aliases;
  if (title) document.title = title;
  if (search_hint) document.search_hint = search_hint;
  if (names.size > 0) document.parameters = [...names];
  if (text !== "") document.parameter_text = text;
  if (tags?.length) document.tags = tags;
  return document;
}

const MAX_NODES = 400;
const MAX_DEPTH = 8;
const MAX_NAMES = 200;
const MAX_TEXT_CHARS = 8_000;
const MAX_DESCRIPTION_CHARS = 1_000;
const MAX_ENUM_WORDS = 24;
const MAX_ENUM_CHARS = 40;

const SINGLE_SCHEMAS = ["items", "additionalProperties"];
const SCHEMA_LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const SCHEMA_MAPS = ["$defs", "definitions"];

function readParameters(schema: unknown): { names: ReadonlySet<string>; text: string } {
  const names = new Set<string>();
  let text = "";
  let level: unknown[] = [schema];
  let nodes = 0;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth += 1) {
    const next: unknown[] = [];
    for (const node of level) {
      if (!isRecord(node)) continue;
      nodes += 1;
      if (nodes > MAX_NODES) return { names, text };
      // The root's own title and description repeat the tool's.
      for (const said of depth > 0 ? readTexts(node) : []) {
        const room = Math.min(MAX_TEXT_CHARS - text.length, MAX_DESCRIPTION_CHARS);
        if (room > 0) text += `${said.slice(0, room)}\n`;
      }
      if (isRecord(node.properties) && names.size < MAX_NAMES) {
        for (const name of Object.keys(node.properties).slice(0, MAX_NAMES)) {
          if (names.size < MAX_NAMES) names.add(name.slice(0, MAX_DESCRIPTION_CHARS));
          next.push(node.properties[name]);
        }
      }
      next.push(...listSubschemas(node));
      next.splice(MAX_NODES);
    }
    level = next;
  }
  return { names, text };
}

function readTexts({ title, description, enum: values }: Schema): string[] {
  const words = Array.isArray(values) ? (values.slice(0, MAX_ENUM_WORDS) as unknown[]) : [];
  return [title, description, ...words.filter((word) => isShort(word))].filter(
    (said) => typeof said === "string",
  );
}

function isShort(word: unknown): boolean {
  return typeof word === "string" && word.length <= MAX_ENUM_CHARS;
}

type Schema = { readonly [key: string]: unknown };

function listSubschemas(node: Schema): unknown[] {
  return [
    ...SINGLE_SCHEMAS.map((key) => node[key]),
    ...SCHEMA_LISTS.flatMap((key) => (Array.isArray(node[key]) ? first(node[key]) : [])),
    ...SCHEMA_MAPS.flatMap((key) => (isRecord(node[key]) ? first(Object.values(node[key])) : [])),
  ].filter(isRecord);
}

function first(nodes: readonly unknown[]): unknown[] {
  return nodes.slice(0, MAX_NODES);
}
