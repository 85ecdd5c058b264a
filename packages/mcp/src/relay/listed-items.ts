// Prompts, resources and templates as a server lists them, read one by one: bounded, made safe, and omitted where
// they cannot be used at all.

import { isJsonObject } from "@soong/schema";
import { safeLine, safeText } from "../catalog/index.ts";

export interface ListedPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: PromptArgument[];
}

interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

interface AboutResource {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

export interface ListedResource extends AboutResource {
  readonly uri: string;
  readonly size?: number;
}

export interface ListedTemplate extends AboutResource {
  readonly uriTemplate: string;
}

const MAX_NAME_CHARS = 256;
const MAX_URI_CHARS = 8_192;
const MAX_TITLE_CHARS = 200;
const MAX_DESCRIPTION_CHARS = 4_000;
const MAX_ARGUMENTS = 100;

export function readPrompt(given: unknown): ListedPrompt | undefined {
  if (!isJsonObject(given)) return undefined;
  const { name, arguments: list } = given;
  if (!isUsable(name, MAX_NAME_CHARS)) return undefined;
  const taken = Array.isArray(list) ? list.slice(0, MAX_ARGUMENTS).flatMap(readArgument) : [];
  return {
    name,
    ...wordsOf(given),
    ...(taken.length === 0 ? {} : { arguments: taken }),
  };
}

export function readResource(given: unknown): ListedResource | undefined {
  if (!isJsonObject(given)) return undefined;
  const { uri, size } = given;
  if (!isUsable(uri, MAX_URI_CHARS)) return undefined;
  const isSize = typeof size === "number" && Number.isSafeInteger(size) && size >= 0;
  return { uri, ...aboutOf(given, uri), ...(isSize ? { size } : {}) };
}

export function readTemplate(given: unknown): ListedTemplate | undefined {
  if (!isJsonObject(given)) return undefined;
  const { uriTemplate } = given;
  if (!isUsable(uriTemplate, MAX_URI_CHARS)) return undefined;
  return { uriTemplate, ...aboutOf(given, uriTemplate) };
}

function readArgument(given: unknown): PromptArgument[] {
  if (!isJsonObject(given)) return [];
  const { name, required } = given;
  if (!isUsable(name, MAX_NAME_CHARS)) return [];
  const isSaid = typeof required === "boolean";
  return [{ name, ...wordsOf(given), ...(isSaid ? { required } : {}) }];
}

function aboutOf(given: Record<string, unknown>, fallback: string): AboutResource {
  const { name, mimeType } = given;
  const called = typeof name === "string" ? safeLine(name, MAX_NAME_CHARS) : "";
  return {
    name: called === "" ? safeLine(fallback, MAX_NAME_CHARS) : called,
    ...wordsOf(given),
    ...(typeof mimeType === "string" ? { mimeType: safeLine(mimeType, 100) } : {}),
  };
}

function wordsOf({ title, description }: Record<string, unknown>): {
  title?: string;
  description?: string;
} {
  return {
    ...(typeof title === "string" ? { title: safeLine(title, MAX_TITLE_CHARS) } : {}),
    ...(typeof description === "string"
      ? { description: safeText(description, MAX_DESCRIPTION_CHARS) }
      : {}),
  };
}

/** It is sent back to the server as it came, so it is taken as it is or not at all. */
function isUsable(value: unknown, maxChars: number): value is string {
  const isShort = typeof value === "string" && value !== "" && value.length <= maxChars;
  return isShort && !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(value);
}

/**
 * Whether an address may have been made from a template (RFC 6570), as far as it takes to choose a server: what is
 * between the expressions must be there, in that order.
 */
export function fitsTemplate(uri: string, template: string): boolean {
  const literals = template.split(/\{[^{}]*\}/u);
  if (literals.length === 1) return uri === template;
  const head = literals[0] ?? "";
  const tail = literals.at(-1) ?? "";
  if (uri.length < head.length + tail.length) return false;
  if (!uri.startsWith(head) || !uri.endsWith(tail)) return false;
  const end = uri.length - tail.length;
  let at = head.length;
  for (const literal of literals.slice(1, -1)) {
    const found = uri.indexOf(literal, at);
    if (found === -1 || found + literal.length > end) return false;
    at = found + literal.length;
  }
  return true;
}
