// The blocks of a result, by the names that Agent Tool has for them.

import { omitBytes } from "../projection/omit-bytes.ts";
import { readText, type UncheckedRecord } from "../projection/read-fields.ts";

/** Without bytes. The list itself where no block has another name there. */
export function mapContent(value: unknown): readonly object[] {
  const blocks = omitBytes(value);
  return blocks.every(isKept) ? blocks : blocks.filter(isBlock).map(mapBlock);
}

/** What the blocks refer to by an address. */
export function listResources(blocks: readonly object[]): readonly object[] | undefined {
  const refs = blocks.filter(hasUri).map(({ uri, name, media_type }) => ({
    uri,
    name: readText(name),
    media_type: readText(media_type),
  }));
  return refs.length === 0 ? undefined : refs;
}

function isBlock(value: unknown): value is UncheckedRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isKept(block: unknown): block is object {
  return isBlock(block) && block["type"] !== "json" && block["type"] !== "resource";
}

function mapBlock(block: UncheckedRecord): object {
  if (block["type"] === "json") {
    return { type: "structured_content", structured_content: block["json"] };
  }
  if (block["type"] !== "resource") return block;
  const { uri, media_type, text, size } = block;
  return { type: "embedded_resource", uri, media_type, text, size };
}

function hasUri(block: object): block is UncheckedRecord & { readonly uri: string } {
  return "uri" in block && typeof block.uri === "string";
}
