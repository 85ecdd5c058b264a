// The content of a result, block by block (MCP-4). What is known stays the block it was, and what a block of ours
// has no place for is kept beside it; bytes too many for a conversation, or that are none, become artifacts, and
// what no one knows is kept as JSON.

import {
  type ArtifactRef,
  type ContentBlock,
  type JsonObject,
  type JsonValue,
  messageOf,
  type ToolContext,
} from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { safeLine } from "../catalog/safe-text.ts";

const MAX_BLOCKS = 500;
const MAX_WORDS = 2_000;
/** As base64; more is not for a conversation, which no model hears or unpacks. */
const MAX_INLINE_IMAGE_CHARS = 5 * 1024 * 1024;
const MAX_INLINE_CHARS = 1024 * 1024;
const MODEL_IMAGES = /^image\/(?:png|jpeg|gif|webp)$/;

export async function readContent(
  given: readonly JsonValue[],
  { artifacts: store, toolName }: Pick<ToolContext, "artifacts" | "toolName">,
) {
  const content: ContentBlock[] = [];
  const artifacts: ArtifactRef[] = [];
  /** What a block had beside its content (`_meta`, annotations, more), with its place and type in `content`. */
  const metas: JsonObject[] = [];

  for (const block of given.slice(0, MAX_BLOCKS)) {
    const place = content.length;
    await read(block);
    keepMeta(block, place);
  }
  if (given.length > MAX_BLOCKS) {
    const rest = JSON.stringify(given.slice(MAX_BLOCKS));
    await keep(rest, "application/json", `${toolName}.rest.json`);
    say(`(${given.length - MAX_BLOCKS} more blocks of content are in the artifact above)`);
  }
  return { content, artifacts, metas };

  async function read(block: JsonValue): Promise<void> {
    if (!isJsonObject(block)) return unknown(block);
    const { type, text, data, mimeType, uri, resource } = block;
    if (type === "text" && typeof text === "string") return say(text);
    if ((type === "image" || type === "audio") && typeof data === "string") {
      return readMedia(type, data, mimeType);
    }
    if (type === "resource_link" && typeof uri === "string") return link(uri, block);
    if (type === "resource" && isJsonObject(resource)) return readResource(resource);
    return unknown(block);
  }

  async function readMedia(
    type: "image" | "audio",
    data: string,
    mimeType: JsonValue | undefined,
  ): Promise<void> {
    const isImage = type === "image";
    const media_type = mediaType(mimeType, `${type}/`);
    const isShown = isImage ? MODEL_IMAGES.test(media_type) : media_type.startsWith("audio/");
    const whole = isShown ? inline(data, isImage ? MAX_INLINE_IMAGE_CHARS : undefined) : undefined;
    if (whole === undefined) return bytes(data, media_type, type);
    content.push({ type, media_type, data: whole });
  }

  async function readResource(given: JsonObject): Promise<void> {
    const { uri: address, text, blob, mimeType } = given;
    if (typeof address !== "string") return unknown(given);
    const uri = safeLine(address, MAX_WORDS);
    const media = typeof mimeType === "string" && { media_type: safeLine(mimeType, 100) };
    const whole = typeof blob === "string" ? inline(blob) : undefined;
    if (typeof text === "string") content.push({ type: "resource", uri, ...media, text });
    else if (whole !== undefined) content.push({ type: "resource", uri, ...media, blob: whole });
    else {
      link(address, given);
      if (typeof blob === "string") await bytes(blob, mediaType(mimeType, ""), "resource");
    }
    return undefined;
  }

  function link(uri: string, { name, description, mimeType }: JsonObject): void {
    content.push({
      type: "resource_link",
      uri: safeLine(uri, MAX_WORDS),
      ...(typeof name === "string" && { name: safeLine(name, MAX_WORDS) }),
      ...(typeof description === "string" && { description: safeLine(description, MAX_WORDS) }),
      ...(typeof mimeType === "string" && { media_type: safeLine(mimeType, 100) }),
    });
  }

  async function bytes(data: string, media_type: string, name: string): Promise<void> {
    const decoded = decodeBase64(data);
    if (decoded !== undefined) return keep(decoded, media_type, name);
    await keep(data, "text/plain", `${name}.txt`);
    say(
      `(The server sent ${media_type} that is not base64; what it sent is in the artifact above)`,
    );
  }

  async function keep(data: string | Uint8Array, media_type: string, name: string): Promise<void> {
    try {
      const ref = await store.write(data, { media_type, name });
      const { artifact_id, size } = ref;
      artifacts.push(ref);
      content.push({ type: "artifact_ref", artifact_id, media_type, size, name });
    } catch (error) {
      // The tool has done its work: the rest of its answer still counts.
      say(`(${name}, ${media_type}, could not be kept: ${safeLine(messageOf(error), 300)})`);
    }
  }

  function say(text: string): void {
    content.push({ type: "text", text });
  }

  function unknown(json: JsonValue): void {
    content.push({ type: "json", json });
  }

  function keepMeta(block: JsonValue, place: number): void {
    const kept = content[place];
    if (!isJsonObject(block) || kept === undefined || kept.type === "json") return;
    const beside = without(block, OWN_KEYS);
    const inside = isJsonObject(block["resource"]) ? without(block["resource"], RESOURCE_KEYS) : {};
    if (Object.keys(beside).length === 0 && Object.keys(inside).length === 0) return;
    metas.push({
      ...beside,
      ...(Object.keys(inside).length > 0 && { resource: inside }),
      block: place,
      type: kept.type,
    });
  }
}

/** Base64 as providers take it, who are stricter about it than we are; nothing for what is none or too much. */
function inline(data: string, limit = MAX_INLINE_CHARS): string | undefined {
  const decoded = data.length <= limit ? decodeBase64(data) : undefined;
  return decoded === undefined || decoded.length === 0 ? undefined : decoded.toString("base64");
}

/** What a block of ours says itself. */
const OWN_KEYS = /^(?:type|text|data|mimeType|uri|name|description|resource)$/;
const RESOURCE_KEYS = /^(?:uri|mimeType|text|blob)$/;

function without(object: JsonObject, keys: RegExp): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.test(key)));
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,60}\/[a-z0-9!#$&^_.+-]{1,60}$/;

/** What the server calls it, if that is a media type of the right family; else bytes of any kind. */
function mediaType(given: JsonValue | undefined, family: string): string {
  const plain = typeof given === "string" ? (given.split(";")[0] ?? "").trim().toLowerCase() : "";
  return MEDIA_TYPE.test(plain) && plain.startsWith(family) ? plain : "application/octet-stream";
}

// Node's own decoder takes anything for base64.

const FOREIGN = /[^A-Za-z0-9+/=]/;

/** Undefined where the text is something else. */
function decodeBase64(text: string): Buffer | undefined {
  // Line breaks inside are common and harmless.
  const compact = /\s/.test(text) ? text.replace(/\s+/g, "") : text;
  const padding = compact.indexOf("=");
  const isPadded = padding === -1 || (padding >= compact.length - 2 && compact.length % 4 === 0);
  // Looked for, not matched as a whole: megabytes of it would exhaust a matcher that may go back.
  if (!isPadded || compact.length % 4 === 1 || FOREIGN.test(compact)) return undefined;
  if (padding === compact.length - 2 && !compact.endsWith("==")) return undefined;
  return Buffer.from(compact, "base64");
}
