// Our request as the AI SDK's call options: system and messages as its prompt, tools, limits.

import type { LanguageModelV2, LanguageModelV3 } from "@ai-sdk/provider";
import type { ContentBlock, JsonObject, JsonSchema } from "@soong/core";
import { wireNameOf } from "@soong/core/internal";
import { isRecord, listKeywords, omitUndefined } from "@soong/schema";
import type { ModelMessage, ModelRequest, ModelResult } from "../model/index.ts";
import { fitsNames } from "./preflight.ts";
import type { ProviderProfile, StrictRules } from "./profile.ts";
import { replayParts } from "./read-parts.ts";

interface Recipient {
  readonly id: string;
  readonly version: InterfaceVersion;
  readonly profile: ProviderProfile;
}

type Message = { role: string; content: unknown; providerOptions?: unknown };

/** Plain data; the abort signal is the caller's to add. */
export function buildCallOptions(request: ModelRequest, to: Recipient): object {
  const { id, version, profile } = to;
  // A result has the name its call was sent under, or some providers lose the pair.
  const names = new Map<string, string>();
  const system = buildSystemMessages();
  const messages = request.messages.flatMap((message): Message[] => {
    const content = toParts(message);
    return content.length === 0 ? [] : [{ role: message.role, content }];
  });
  for (const last of [system.at(-1), messages.at(-1)]) {
    if (last !== undefined && profile.cache_mark) last.providerOptions = profile.cache_mark;
  }
  const tools = request.tools.map(({ name, description, input_schema: inputSchema }) => {
    const strict = version === "v2" ? undefined : strictFlag(inputSchema, profile.strict);
    return { type: "function", name, description, inputSchema, ...omitUndefined({ strict }) };
  });
  return {
    prompt: [...system, ...messages],
    ...omitUndefined({
      maxOutputTokens: request.max_output_tokens ?? profile.max_output_tokens,
      tools: tools.length === 0 ? undefined : tools,
      providerOptions: profile.request_options,
    }),
    // The raw events show which call ids are the provider's own and which its package made up (MODEL-3).
    includeRawChunks: true,
  };

  function buildSystemMessages(): Message[] {
    const said = request.system.filter((text) => text !== "");
    const isJoined = profile.system === "joined" && said.length > 0;
    const blocks = isJoined ? [said.join("\n\n")] : said;
    return blocks.map((content) => ({ role: "system", content }));
  }

  function toParts(message: ModelMessage): object[] {
    switch (message.role) {
      case "user":
        return message.content.flatMap(toUserPart);
      case "assistant":
        return replayParts(message, id).map(toAssistantPart);
      case "tool":
        return message.results.map((result) => ({
          type: "tool-result",
          toolCallId: result.tool_call_id,
          toolName: names.get(result.tool_call_id) ?? result.name,
          output: toOutput(result),
        }));
    }
  }

  /** Empty text is no part: some providers refuse a message for it. */
  function toUserPart(block: ContentBlock): object[] {
    if (block.type === "image" && profile.images.user) {
      const { media_type: mediaType, data } = block;
      const file = version === "v4" ? { type: "data", data } : data;
      return [{ type: "file", mediaType, data: file }];
    }
    const text = renderBlock(block);
    return text === "" ? [] : [{ type: "text", text }];
  }

  function toAssistantPart(part: ReturnType<typeof replayParts>[0]): object {
    const options = omitUndefined({ providerOptions: part.metadata });
    if (part.type !== "call") return { type: part.type, text: part.text, ...options };
    const { tool_call_id: toolCallId, name, arguments: sent } = part.call;
    // A model may call what is no name at all; its provider would refuse to see that again.
    const toolName = fitsNames(name, profile) ? name : wireNameOf(name, profile.names);
    names.set(toolCallId, toolName);
    return { type: "tool-call", toolCallId, toolName, input: parseSentArguments(sent), ...options };
  }

  function toOutput({ content, is_error }: ModelResult): object {
    const images = content.filter((block) => block.type === "image");
    if (images.length === 0 || !profile.images.tool_results || version === "v4") {
      const value = content.map(renderBlock).join("\n");
      return { type: is_error ? "error-text" : "text", value };
    }
    // One text and then the pictures: Gemini wants exactly one response a call, and each text would be one.
    // Beside pictures there is no place for the flag of an error.
    const lines = content.filter((block) => block.type !== "image").map(renderBlock);
    const text = [...(is_error ? ["The call failed."] : []), ...lines].join("\n");
    const type = version === "v2" ? "media" : "image-data";
    return {
      type: "content",
      value: [
        { type: "text", text: text === "" ? `${images.length} image(s):` : text },
        ...images.map(({ media_type: mediaType, data }) => ({ type, mediaType, data })),
      ],
    };
  }
}

/** Providers take only objects back; what the model sent instead is shown to it as it was. */
function parseSentArguments(text: string): JsonObject {
  if (text.trim() === "") return {};
  try {
    const parsed = JSON.parse(text) as unknown;
    if (isRecord(parsed)) return parsed as JsonObject;
  } catch {
    // Not JSON: shown as text below.
  }
  return { unparsed_arguments: text };
}

// Content blocks as the text a model reads where a provider has no form of its own for them.

function renderBlock(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "json":
      return JSON.stringify(block.json);
    case "image":
      return `[image ${block.media_type}, not shown: this model takes no images here]`;
    case "audio":
      return `[audio ${block.media_type}, not played: this model takes no sound here]`;
    case "resource": {
      const head = line("resource", block.uri, [block.media_type]);
      return "text" in block ? `${head}\n${block.text}` : head;
    }
    case "resource_link":
      return line("resource", block.uri, [block.name, block.media_type, block.description]);
    case "artifact_ref":
      return line("artifact", block.artifact_id, [
        block.name,
        block.media_type,
        `${block.size} bytes`,
      ]);
  }
}

function line(kind: string, where: string, about: readonly (string | undefined)[]): string {
  const known = about.filter((part) => part !== undefined && part !== "");
  return `[${[`${kind} ${where}`, ...known].join(", ")}]`;
}

// Whether a schema keeps a provider's strict rules, so that the provider may promise arguments that fit it.

/** Undefined where nothing is to be said of strictness at all. */
export function strictFlag(schema: JsonSchema, rules: StrictRules): boolean | undefined {
  if (rules.mode === "unsent") return undefined;
  const used = listKeywords(schema);
  if (rules.refused_keywords.some((keyword) => used.has(keyword))) return false;
  return !rules.closed_objects || isClosed(schema);
}

function isClosed(node: unknown): boolean {
  if (Array.isArray(node)) return node.every(isClosed);
  if (!isRecord(node)) return true;
  if (mayBeObject(node) && !listsAllAsRequired(node)) return false;
  return Object.entries(node).every(([keyword, value]) =>
    HOLDS_SCHEMAS.has(keyword)
      ? isRecord(value) && Object.values(value).every(isClosed)
      : !HOLDS_SCHEMA.has(keyword) || isClosed(value),
  );
}

const HOLDS_SCHEMAS: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);
const HOLDS_SCHEMA: ReadonlySet<string> = new Set(["items", "anyOf"]);

function mayBeObject({ type, properties }: Readonly<Record<string, unknown>>): boolean {
  return (
    type === "object" ||
    (Array.isArray(type) && type.includes("object")) ||
    properties !== undefined
  );
}

function listsAllAsRequired(node: Readonly<Record<string, unknown>>): boolean {
  const required = Array.isArray(node["required"]) ? node["required"] : [];
  const names = isRecord(node["properties"]) ? Object.keys(node["properties"]) : [];
  return node["additionalProperties"] === false && names.every((name) => required.includes(name));
}

// The versions of the AI SDK's model interface we take. They differ only in how pictures, the reason for
// stopping and token counts are written, and in the strict flag; everything else is one code path.

export type AnyLanguageModel = LanguageModelV2 | LanguageModelV3 | LanguageModelV4;

/** What we use of it; spelled out, because the installed types may be older than the installed model. */
export interface LanguageModelV4 {
  readonly specificationVersion: "v4";
  readonly provider: string;
  readonly modelId: string;
  doStream(options: object): PromiseLike<{ readonly stream: ReadableStream }>;
}

export type InterfaceVersion = AnyLanguageModel["specificationVersion"];

const VERSIONS: ReadonlySet<unknown> = new Set<InterfaceVersion>(["v2", "v3", "v4"]);

/** Throws for a model of any other version: that is a mistake in the program, not in a run. */
export function checkInterfaceVersion(model: AnyLanguageModel, id: string): void {
  const version: unknown = model.specificationVersion;
  if (VERSIONS.has(version)) return;
  throw new TypeError(
    `The model ${id} has version ${String(version)} of the AI SDK's model interface; v2, v3 and v4 are taken. Install another version of its provider package.`,
  );
}
