// What a request asks for that its provider does not take, found before anything is sent and named: which
// tool, which name, which keyword, which limit (MODEL-2).

import { lowerSchema, type ModelProfile, type ModelTool } from "@soong/core";
import { listKeywords } from "@soong/schema";
import type { ModelError, ModelRequest } from "../model/index.ts";
import type { ProviderProfile } from "./profile.ts";

export function preflight(request: ModelRequest, profile: ProviderProfile): ModelError | undefined {
  const violation =
    findToolsViolation(request.tools, profile) ?? findMessagesViolation(request.messages, profile);
  if (violation === undefined) return undefined;
  return {
    kind: "unsupported_capability",
    message: `The model profile "${profile.id}" does not take this request: ${violation}. Nothing was sent.`,
  };
}

/** Why a model of this profile does not take these tools, as a clause. */
export function findToolsViolation(
  tools: readonly ModelTool[],
  profile: ModelProfile,
): string | undefined {
  const known = checked.get(tools) ?? new Map<ModelProfile, string | undefined>();
  checked.set(tools, known);
  if (!known.has(profile)) known.set(profile, checkTools(tools, profile));
  return known.get(profile);
}

/** The same list is checked before each request, and checking schemas is slow. */
const checked = new WeakMap<readonly ModelTool[], Map<ModelProfile, string | undefined>>();

function checkTools(tools: readonly ModelTool[], profile: ModelProfile): string | undefined {
  const { max_tools, names } = profile;
  if (max_tools !== undefined && tools.length > max_tools) {
    const loaded = tools.length === 1 ? "1 tool is loaded" : `${tools.length} tools are loaded`;
    return `${loaded} and at most ${max_tools} can be sent; defer or exclude some`;
  }
  const seen = new Set<string>();
  for (const tool of tools) {
    if (!fitsNames(tool.name, profile)) {
      return `the tool name "${tool.name}" must be 1 to ${names.max_length} characters of ${names.chars}, the first of ${names.first_chars}`;
    }
    if (seen.has(tool.name)) return `two tools have the name "${tool.name}"`;
    seen.add(tool.name);
    const violation = findSchemaViolation(tool, profile);
    if (violation !== undefined) return violation;
  }
  return undefined;
}

function findMessagesViolation(
  messages: ModelRequest["messages"],
  { parallel_calls, images }: ProviderProfile,
): string | undefined {
  for (const message of messages) {
    if (message.role === "assistant" && message.calls.length > 1 && !parallel_calls) {
      return `an answer in the conversation holds ${message.calls.length} calls and only one at a time is taken`;
    }
    const isUser = message.role === "user" && !images.user;
    if (isUser && message.content.some(({ type }) => type === "image")) {
      return "a user message holds an image";
    }
  }
  return undefined;
}

/** A clause that names the tool and the keyword. */
function findSchemaViolation(tool: ModelTool, profile: ModelProfile): string | undefined {
  const { refused_keywords = [], refused_at_root = [], extended_schemas } = profile;
  const used = listKeywords(tool.input_schema);
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

export function fitsNames(name: string, { names }: ModelProfile): boolean {
  return (
    name.length <= names.max_length &&
    new RegExp(`^[${names.first_chars}][${names.chars}]*$`).test(name)
  );
}
