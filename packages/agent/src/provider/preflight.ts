// What a request asks for that its provider does not take, found before anything is sent and named: which
// tool, which name, which keyword, which limit (MODEL-2).

import { lowerSchema, type ModelProfile, type ModelTool } from "@soong/core";
import { keywordsOf } from "@soong/schema";
import type { ModelError, ModelMessage, ModelRequest } from "../model/index.ts";
import type { ProviderProfile } from "./profile.ts";

export function preflight(request: ModelRequest, profile: ProviderProfile): ModelError | undefined {
  const violation =
    tooManyTools(request.tools, profile) ??
    first(request.tools, (tool) => toolViolation(tool, profile)) ??
    repeatedName(request.tools) ??
    first(request.messages, (message) => messageViolation(message, profile));
  if (violation === undefined) return undefined;
  return {
    kind: "unsupported_capability",
    message: `The model profile "${profile.id}" does not take this request: ${violation}. Nothing was sent.`,
  };
}

function tooManyTools(tools: readonly ModelTool[], { max_tools }: ProviderProfile) {
  if (max_tools === undefined || tools.length <= max_tools) return undefined;
  return `${tools.length} tools are loaded and at most ${max_tools} can be sent; defer or exclude some`;
}

function toolViolation(tool: ModelTool, profile: ProviderProfile): string | undefined {
  const { names } = profile;
  if (!fitsNames(tool.name, profile)) {
    return `the tool name "${tool.name}" must be 1 to ${names.max_length} characters of ${names.chars}, the first of ${names.first_chars}`;
  }
  return schemaViolation(tool, profile);
}

/** A clause that names the tool and the keyword. */
export function schemaViolation(tool: ModelTool, profile: ModelProfile): string | undefined {
  const { refused_keywords = [], refused_at_root = [], extended_schemas } = profile;
  const used = keywordsOf(tool.input_schema);
  const refused = refused_keywords.find((keyword) => used.has(keyword));
  if (refused !== undefined) return `the schema of the tool "${tool.name}" uses ${refused}`;
  const atRoot = refused_at_root.find((keyword) => keyword in tool.input_schema);
  if (atRoot !== undefined) {
    return `the schema of the tool "${tool.name}" begins with ${atRoot}; wrap it in a property`;
  }
  if (extended_schemas) return undefined;
  const lowered = lowerSchema(tool.input_schema);
  if (lowered.kind !== "extended") return undefined;
  const outside = lowered.outside[0];
  return `the schema of the tool "${tool.name}" uses ${outside?.keyword ?? "keywords"} at ${outside?.pointer || "/"}, outside the core subset`;
}

export function fitsNames(name: string, { names }: ProviderProfile): boolean {
  return (
    name.length <= names.max_length &&
    new RegExp(`^[${names.first_chars}][${names.chars}]*$`).test(name)
  );
}

function repeatedName(tools: readonly ModelTool[]): string | undefined {
  const seen = new Set<string>();
  for (const { name } of tools) {
    if (seen.has(name)) return `two tools have the name "${name}"`;
    seen.add(name);
  }
  return undefined;
}

function messageViolation(message: ModelMessage, profile: ProviderProfile): string | undefined {
  if (message.role === "assistant" && message.calls.length > 1 && !profile.parallel_calls) {
    return `an answer in the conversation holds ${message.calls.length} calls and only one at a time is taken`;
  }
  if (message.role === "user" && !profile.images.user) {
    const image = message.content.find(({ type }) => type === "image");
    if (image !== undefined) return "a user message holds an image";
  }
  return undefined;
}

function first<Item>(items: readonly Item[], find: (item: Item) => string | undefined) {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
