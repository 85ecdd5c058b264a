// The inline bound (RESULT-6, ART-2): what is too long becomes head and tail, and the whole of it an
// artifact. Nothing is lost: what leaves the record is kept, raw.

import type { ArtifactStore } from "../journal/index.ts";
import { omitUndefined, type JsonObject } from "@soong/schema";
import {
  isMediaBlock,
  messageOf,
  type ArtifactRef,
  type ContentBlock,
  type MediaBlock,
  type ToolResult,
} from "../tool/index.ts";
import { headTail } from "./head-tail.ts";
import { joinText, type MappingRules } from "./map-result.ts";
import type { HandlerOutcome } from "./read-return.ts";

type Limit = MappingRules["limit"];

/** Keeps what does not fit inline. */
export type KeepOverflow = (
  text: string,
  about: { media_type: string; name: string },
) => ReturnType<ArtifactStore["write"]>;

/** Of base64. An image is not text: providers take these whole or not at all, and half a sound is none. */
const MAX_MEDIA_CHARS = 5 * 1024 * 1024;

/** Of what a tool puts beside the content, as JSON: it is on record with every result, and no model reads it. */
const MAX_BESIDE_CHARS = 64 * 1024;

/** Whether the result may stay as it is; if not, `boundResult` makes it fit. */
export function fitsInline(result: ToolResult, outcome: HandlerOutcome, limit: Limit): boolean {
  if (!besideFits(result.metadata.tool) || !besideFits(result.error?.details)) return false;
  let chars = outcome.data?.chars ?? 0;
  let textChars = 0;
  for (const block of result.content) {
    if (block.type === "text") textChars += block.text.length;
    else if (isMediaBlock(block)) {
      if (readBytes(block).length > MAX_MEDIA_CHARS) return false;
    } else if (block.type !== "json" || block.json !== result.data) {
      chars += JSON.stringify(block).length;
    }
  }
  if (textChars > Math.min(limit.maxChars, limit.maxBytes)) return false;
  chars += textChars;
  // Three bytes at the most for one UTF-16 unit: only a long text has to be looked at closely.
  if (chars <= limit.maxChars && chars * 3 <= limit.maxBytes) return true;
  return fits(inlineText(result), limit);
}

export async function boundResult(
  result: ToolResult,
  outcome: HandlerOutcome,
  limit: Limit,
  keep: KeepOverflow,
): Promise<ToolResult> {
  const { tool_name } = result;
  const { data, ...rest } = result;
  const content: ContentBlock[] = [];
  const artifacts = [...result.artifacts];
  const metadata = { ...result.metadata };
  const bounded: ToolResult = { ...rest, content, artifacts, metadata };
  await boundWords();
  await boundMedia();
  if (!besideFits(metadata.tool)) {
    metadata.tool = await putAside(outcome.metadata ?? metadata.tool, "metadata");
  }
  if (result.error !== undefined && !besideFits(result.error.details)) {
    const raw = outcome.error?.details ?? result.error.details;
    bounded.error = { ...result.error, details: await putAside(raw, "details") };
  }
  if (data === undefined || isShown(result)) return bounded;
  // Data beside the content stays where both fit; else it is kept on its own.
  const given = outcome.data?.value ?? data;
  const raw = JSON.stringify(given);
  const shown = given === data ? raw : JSON.stringify(data);
  if (fits(`${joinText(content)}\n${shown}`, limit)) return { ...bounded, data };
  await keepAs(raw, "application/json", `${tool_name}.json`);
  return bounded;

  async function boundWords(): Promise<void> {
    const words = result.content.filter((block) => !isMediaBlock(block));
    const text = joinText(words);
    if (fits(text, limit)) {
      content.push(...words);
      return;
    }
    const { text: preview, original_chars, kept_chars } = headTail(text, limit);
    content.push({ type: "text", text: preview });
    const whole = renderWhole(outcome);
    const name = `${tool_name}.${whole.media_type === "text/plain" ? "txt" : "json"}`;
    const artifact_id = (await keepAs(whole.text, whole.media_type, name))?.artifact_id;
    metadata.truncation = { original_chars, kept_chars, ...omitUndefined({ artifact_id }) };
  }

  async function boundMedia(): Promise<void> {
    for (const block of result.content.filter(isMediaBlock)) {
      const bytes = readBytes(block);
      if (bytes.length <= MAX_MEDIA_CHARS) {
        content.push(block);
        continue;
      }
      const { type, media_type = "application/octet-stream" } = block;
      // Where the bytes are from is said even when they are elsewhere.
      if (block.type === "resource") {
        const { uri, media_type: of } = block;
        content.push({ type: "resource_link", uri, ...omitUndefined({ media_type: of }) });
      }
      await keepAs(bytes, `${media_type};base64`, type);
    }
  }

  /** RESULT-8: the tool's metadata and the details of its error. */
  async function putAside(raw: JsonObject | undefined, what: string): Promise<JsonObject> {
    const text = JSON.stringify(raw);
    const ref = await store(text, "application/json", `${tool_name}.${what}.json`);
    const about = { truncated: true, original_chars: text.length, artifact_id: ref?.artifact_id };
    return omitUndefined(about);
  }

  /** Kept, and shown in its place among the content. */
  async function keepAs(
    text: string,
    media_type: string,
    name: string,
  ): Promise<ArtifactRef | undefined> {
    const ref = await store(text, media_type, name);
    if (ref === undefined) return undefined;
    const { artifact_id, size } = ref;
    content.push({ type: "artifact_ref", artifact_id, media_type, size, name });
    return ref;
  }

  async function store(
    text: string,
    media_type: string,
    name: string,
  ): Promise<ArtifactRef | undefined> {
    try {
      const { artifact_id, size, sha256 } = await keep(text, { media_type, name });
      const ref: ArtifactRef = { artifact_id, media_type, size, sha256, name };
      artifacts.push(ref);
      return ref;
    } catch (error) {
      content.push({ type: "text", text: `(The rest could not be kept: ${messageOf(error)})` });
      return undefined;
    }
  }
}

function besideFits(beside: JsonObject | undefined): boolean {
  return beside === undefined || JSON.stringify(beside).length <= MAX_BESIDE_CHARS;
}

function readBytes(block: MediaBlock): string {
  return block.type === "resource" ? block.blob : block.data;
}

/** What the handler gave, raw: plain text, its data, or the blocks where they are more than text. */
function renderWhole({ content, data }: HandlerOutcome): { text: string; media_type: string } {
  const words = content.filter((block) => !isMediaBlock(block));
  if (words.length === 0) {
    return { text: JSON.stringify(data?.value ?? null), media_type: "application/json" };
  }
  const isText = words.every((block) => block.type === "text");
  return isText
    ? { text: joinText(words), media_type: "text/plain" }
    : { text: JSON.stringify(words), media_type: "application/json" };
}

function inlineText(result: ToolResult): string {
  const text = joinText(result.content);
  return result.data === undefined || isShown(result)
    ? text
    : `${text}\n${JSON.stringify(result.data)}`;
}

/** The data is what the content shows. */
function isShown({ content, data }: ToolResult): boolean {
  return content.some((block: ContentBlock) => block.type === "json" && block.json === data);
}

function fits(text: string, limit: Limit): boolean {
  return !headTail(text, limit).truncated;
}
