// The messages of a prompt on their way through the kernel, which knows blocks and no messages: who says each, and
// how many blocks it takes, ride along in the result's metadata.

import type { HandlerResult, JsonObject, JsonValue, ToolContext, ToolResult } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { readContent } from "../call/index.ts";
import { safeText } from "../catalog/index.ts";

type Block = ToolResult["content"][number];

export interface RelayedMessage {
  readonly role: "user" | "assistant";
  readonly block: Block;
}

const MAX_DESCRIPTION_CHARS = 4_000;
const MAX_MESSAGES = 500;

export async function readMessages(
  description: JsonValue | undefined,
  messages: readonly JsonValue[],
  context: ToolContext,
): Promise<HandlerResult> {
  const content: Block[] = [];
  const artifacts: NonNullable<HandlerResult["artifacts"]> = [];
  const said: JsonObject[] = [];
  for (const message of messages.slice(0, MAX_MESSAGES)) {
    const given = isJsonObject(message) ? message : {};
    const role = given["role"] === "assistant" ? "assistant" : "user";
    const read = await readContent([given["content"] ?? null], context);
    content.push(...read.content);
    artifacts.push(...read.artifacts);
    said.push({ role, blocks: read.content.length });
  }
  return {
    content,
    artifacts,
    summary: `${said.length} messages`,
    metadata: {
      messages: said,
      ...(typeof description === "string"
        ? { description: context.redact(safeText(description, MAX_DESCRIPTION_CHARS)) }
        : {}),
    },
  };
}

/** What was cut, or is not as it came any more, is said by the user, in one piece. */
export function relayedMessages({ content, metadata }: ToolResult): {
  readonly description?: string;
  readonly messages: readonly RelayedMessage[];
} {
  const { messages, description } = metadata.tool ?? {};
  const said = Array.isArray(messages) ? messages.filter(isJsonObject) : [];
  const roles = said.flatMap(({ role, blocks }) =>
    Array.from({ length: Number(blocks) }, () => (role === "assistant" ? "assistant" : "user")),
  );
  const isWhole = metadata.truncation === undefined && roles.length === content.length;
  return {
    ...(typeof description === "string" ? { description } : {}),
    messages: content.map((block, index) => ({
      role: (isWhole ? roles[index] : undefined) ?? "user",
      block,
    })),
  };
}
