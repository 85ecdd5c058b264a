// What is only sent where the user wants content (`content: true`): arguments, results and messages, each as JSON text of a
// bounded length. Facts are redacted when they are recorded, so secrets are not in them.

import { firstChars, isRecord } from "@soong/schema";
import { readField, readLabel, readList, readText } from "./fact-fields.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Longer texts are cut: a span has to fit into a request. */
export const MOST_CONTENT_CHARS = 32 * 1024;

/** Text as it is, anything else as JSON. */
export function renderContent(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return cutContent(typeof value === "string" ? value : toJson(value));
}

/** Of the result of a call: what the model read, without bytes of images and sound. */
export function renderResult(result: Fields): string | undefined {
  const blocks = readList(result, "content").map((block) => {
    if (!isRecord(block)) return block;
    const type = readText(block, "type");
    if (type === "text") return readText(block, "text") ?? "";
    const { data: _data, blob: _blob, ...rest } = block;
    return rest;
  });
  const [only] = blocks;
  return renderContent(blocks.length === 1 ? only : blocks);
}

export interface MessagePart {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** One message, in the form of `gen_ai.input.messages` and, with a reason, `gen_ai.output.messages`. */
export function renderMessage(
  role: string,
  parts: readonly MessagePart[],
  finish_reason?: string,
): string | undefined {
  if (parts.length === 0) return undefined;
  return toJson([{ role, parts: fitParts(parts), finish_reason }]) || undefined;
}

export function textPart(content: string): MessagePart {
  return { type: "text", content };
}

/** A call as the model sent it. Arguments that are no JSON stay text. */
export function callPart(id: string | undefined, name: string, data: Fields): MessagePart {
  return {
    type: "tool_call",
    id,
    name,
    arguments: parseOrKeep(readField(data, "model_input")),
  };
}

/** All of them have a bounded length together: texts are cut, and arguments that are too long omitted. */
function fitParts(parts: readonly MessagePart[]): MessagePart[] {
  let left = MOST_CONTENT_CHARS;
  return parts.map(({ content, arguments: given, ...part }) => {
    if (typeof content === "string") {
      const cut = cutContent(content, left);
      left -= Math.min(left, content.length);
      return { ...part, content: cut };
    }
    const { length } = toJson(given);
    if (length > left) return part;
    left -= length;
    return { ...part, arguments: given };
  });
}

function parseOrKeep(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** The loaded tools of a catalog; without their schemas where those would be too long, and not at all where that is. */
export function renderDefinitions(catalog: Fields): string | undefined {
  const loaded = readList(catalog, "tools").filter(
    (tool): tool is Fields => isRecord(tool) && readText(tool, "state") === "loaded",
  );
  if (loaded.length === 0) return undefined;
  const brief = loaded.map((tool) => ({
    type: "function",
    name: readLabel(tool, "tool_name"),
    description: readText(tool, "description"),
  }));
  const whole = toJson(
    brief.map((tool, i) => ({ ...tool, parameters: readField(loaded[i] ?? {}, "input_schema") })),
  );
  if (whole.length <= MOST_CONTENT_CHARS) return whole;
  const short = toJson(brief);
  return short.length <= MOST_CONTENT_CHARS ? short : undefined;
}

function cutContent(text: string, mostChars = MOST_CONTENT_CHARS): string {
  return text.length <= mostChars ? text : `${firstChars(text, mostChars)}…`;
}

/** What cannot be JSON is no part of any fact that was recorded. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}
