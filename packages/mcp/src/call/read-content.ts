// The content of a result, block by block (MCP-4). Text, links and the images models take stay blocks; other
// bytes become artifacts, and what nobody knows is kept as JSON.

import {
  messageOf,
  type ArtifactRef,
  type ContentBlock,
  type JsonObject,
  type JsonValue,
  type ToolContext,
} from "@soong/core";
import { isJsonObject, safeLine } from "../catalog/index.ts";
import { decodeBase64 } from "./decode-base64.ts";

export interface ReadContent {
  readonly content: ContentBlock[];
  readonly artifacts: ArtifactRef[];
  /** `_meta` and annotations of the blocks that had any, with the block's place. */
  readonly metas: JsonObject[];
}

const MAX_BLOCKS = 500;
const MAX_WORDS = 2_000;
/** As base64; a larger one is not for a conversation. */
const MAX_INLINE_IMAGE_CHARS = 5 * 1024 * 1024;
const MODEL_IMAGES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

export async function readContent(
  given: readonly JsonValue[],
  { artifacts: writer, toolName }: Pick<ToolContext, "artifacts" | "toolName">,
): Promise<ReadContent> {
  const content: ContentBlock[] = [];
  const artifacts: ArtifactRef[] = [];
  const metas: JsonObject[] = [];

  for (const [index, block] of given.slice(0, MAX_BLOCKS).entries()) {
    await read(block);
    keepMeta(block, index);
  }
  if (given.length > MAX_BLOCKS) {
    const rest = JSON.stringify(given.slice(MAX_BLOCKS));
    await keep(rest, "application/json", `${toolName}.rest.json`);
    say(`(${given.length - MAX_BLOCKS} more blocks of content are in the artifact above)`);
  }
  return { content, artifacts, metas };

  async function read(block: JsonValue): Promise<void> {
    if (!isJsonObject(block)) return unknown(block);
    const { type, text, data, mimeType } = block;
    if (type === "text" && typeof text === "string") return say(text);
    if (type === "image" && typeof data === "string") return image(data, mimeType);
    if (type === "audio" && typeof data === "string") {
      return bytes(data, mediaType(mimeType, "audio/"), "audio");
    }
    if (type === "resource_link" && typeof block["uri"] === "string") {
      return link(block["uri"], block);
    }
    if (type === "resource" && isJsonObject(block["resource"])) return resource(block["resource"]);
    return unknown(block);
  }

  async function image(data: string, mimeType: JsonValue | undefined): Promise<void> {
    const media_type = mediaType(mimeType, "image/");
    const isInline = MODEL_IMAGES.has(media_type) && data.length <= MAX_INLINE_IMAGE_CHARS;
    const decoded = isInline ? decodeBase64(data) : undefined;
    if (decoded === undefined || decoded.length === 0) return bytes(data, media_type, "image");
    // Written anew: providers are stricter about it than we are.
    content.push({ type: "image", media_type, data: decoded.toString("base64") });
  }

  async function resource(given: JsonObject): Promise<void> {
    const { uri, text, blob, mimeType } = given;
    if (typeof uri !== "string") return unknown(given);
    link(uri, given);
    if (typeof text === "string") return say(text);
    if (typeof blob === "string") return bytes(blob, mediaType(mimeType, ""), "resource");
    return undefined;
  }

  function link(uri: string, { name, description, mimeType }: JsonObject): void {
    content.push({
      type: "resource_link",
      uri: safeLine(uri, MAX_WORDS),
      ...(typeof name === "string" ? { name: safeLine(name, MAX_WORDS) } : {}),
      ...(typeof description === "string" ? { description: safeLine(description, MAX_WORDS) } : {}),
      ...(typeof mimeType === "string" ? { media_type: safeLine(mimeType, 100) } : {}),
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
      const ref = await writer.write(data, { media_type, name });
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

  function keepMeta(block: JsonValue, index: number): void {
    if (!isJsonObject(block)) return;
    const { _meta, annotations } = block;
    if (_meta === undefined && annotations === undefined) return;
    metas.push({
      block: index,
      ...(_meta === undefined ? {} : { _meta }),
      ...(annotations === undefined ? {} : { annotations }),
    });
  }
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,60}\/[a-z0-9!#$&^_.+-]{1,60}$/;

/** What the server calls it, if that is a media type of the right family; else bytes of any kind. */
function mediaType(given: JsonValue | undefined, family: string): string {
  const plain = typeof given === "string" ? (given.split(";")[0] ?? "").trim().toLowerCase() : "";
  return MEDIA_TYPE.test(plain) && plain.startsWith(family) ? plain : "application/octet-stream";
}
