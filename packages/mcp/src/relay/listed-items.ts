// Prompts, resources and templates as a server lists them: read one by one, bounded, made safe, and omitted where
// they cannot be used at all. Listed when needed and kept until the server says that they changed; a server that
// does not answer in time has nothing to list, for a while, and holds no one else up.

import type { Prompt, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import { messageOf, type Clock, type JsonObject } from "@soong/core";
import { isJsonObject, omitUndefined } from "@soong/schema";
import { listPages } from "../catalog/list-tools.ts";
import { safeLine, safeText } from "../catalog/safe-text.ts";
import { readPage } from "../connection/client-requests.ts";
import type { ConnectedServer } from "../connection/connected-server.ts";

const LIMITS = { maxPages: 50, maxTools: 2_000, maxChars: 4 * 1024 * 1024 };
const LIST_TIMEOUT_MS = 10_000;
const FAILED_FOR_MS = 15_000;

export type ServerLists = ReturnType<typeof createServerLists>;

export function createServerLists(
  server: ConnectedServer,
  clock: Clock,
  onProblem: (problem: string) => void,
) {
  const prompts = keep("prompts", "prompts", readPrompt, ({ name }) => name);
  const resources = keep("resources", "resources", readResource, ({ uri }) => uri);
  const templates = keep("resources", "resourceTemplates", readTemplate, (one) => one.uriTemplate);

  return {
    prompts: prompts.items,
    resources: resources.items,
    templates: templates.items,
    forget(what: "prompts" | "resources") {
      for (const kept of what === "prompts" ? [prompts] : [resources, templates]) kept.forget();
    },
  };

  function keep<T>(
    capability: string,
    key: string,
    read: (given: JsonObject) => T | undefined,
    idOf: (item: T) => string,
  ) {
    const method = key === "resourceTemplates" ? "resources/templates/list" : `${key}/list`;
    let kept: Promise<readonly T[]> | undefined;
    let askAgainAt = Number.POSITIVE_INFINITY;
    return {
      items: (): Promise<readonly T[]> => {
        if (server.capabilities[capability] === undefined) return Promise.resolve([]);
        if (kept === undefined || clock.monotonic() >= askAgainAt) {
          const asked = list();
          kept = asked;
          askAgainAt = Number.POSITIVE_INFINITY;
          asked.catch(() => {
            if (kept === asked) askAgainAt = clock.monotonic() + FAILED_FOR_MS;
          });
        }
        return kept.catch(() => []);
      },
      forget: () => {
        kept = undefined;
      },
    };

    async function list(): Promise<readonly T[]> {
      const enough = new AbortController();
      const disarm = clock.after(LIST_TIMEOUT_MS, () => enough.abort());
      try {
        const found = await listPages(
          (cursor) => fetchPage(cursor, enough.signal),
          LIMITS,
          "items",
        );
        if (found.cutShort !== undefined) {
          onProblem(`${method}: the list is not whole (${found.cutShort})`);
        }
        const items = found.tools.map((given) => (isJsonObject(given) ? read(given) : undefined));
        return uniqueBy(
          items.filter((item) => item !== undefined),
          idOf,
        );
      } catch (error) {
        const why = enough.signal.aborted
          ? `no whole list within ${LIST_TIMEOUT_MS} ms`
          : safeLine(messageOf(error), 300);
        onProblem(`${method}: ${why}`);
        throw error;
      } finally {
        disarm();
      }
    }

    async function fetchPage(cursor: string | undefined, signal: AbortSignal) {
      const options = { signal, timeoutMs: LIST_TIMEOUT_MS };
      const params: JsonObject = omitUndefined({ cursor });
      const problem = `the answer to ${method} has no list`;
      return readPage(await server.request(method, params, options), key, problem);
    }
  }
}

/** The first of each. */
export function uniqueBy<T>(items: readonly T[], idOf: (item: T) => string): T[] {
  const byId = new Map<string, T>();
  for (const item of items) if (!byId.has(idOf(item))) byId.set(idOf(item), item);
  return [...byId.values()];
}

const MAX_NAME_CHARS = 256;
const MAX_URI_CHARS = 8_192;
const MAX_ARGUMENTS = 100;

function readPrompt(given: JsonObject): Prompt | undefined {
  const { name, arguments: list } = given;
  if (!isUsable(name, MAX_NAME_CHARS)) return undefined;
  const taken = (Array.isArray(list) ? list : []).slice(0, MAX_ARGUMENTS).flatMap((argument) => {
    const { name, required, ...about } = isJsonObject(argument) ? argument : {};
    if (!isUsable(name, MAX_NAME_CHARS)) return [];
    return [{ name, ...readWords(about), ...(typeof required === "boolean" && { required }) }];
  });
  return { name, ...readWords(given), ...(taken.length > 0 && { arguments: taken }) };
}

function readResource(given: JsonObject): Resource | undefined {
  const { uri, size } = given;
  if (!isUsable(uri, MAX_URI_CHARS)) return undefined;
  const isSize = typeof size === "number" && Number.isSafeInteger(size) && size >= 0;
  return { uri, ...readAbout(given, uri), ...(isSize && { size }) };
}

function readTemplate(given: JsonObject): ResourceTemplateType | undefined {
  const { uriTemplate } = given;
  if (!isUsable(uriTemplate, MAX_URI_CHARS)) return undefined;
  return { uriTemplate, ...readAbout(given, uriTemplate) };
}

function readAbout(given: JsonObject, fallback: string) {
  const { name, mimeType } = given;
  const called = typeof name === "string" ? safeLine(name, MAX_NAME_CHARS) : "";
  return {
    name: called === "" ? safeLine(fallback, MAX_NAME_CHARS) : called,
    ...readWords(given),
    ...(typeof mimeType === "string" && { mimeType: safeLine(mimeType, 100) }),
  };
}

function readWords({ title, description }: JsonObject) {
  return {
    ...(typeof title === "string" && { title: safeLine(title, 200) }),
    ...(typeof description === "string" && { description: safeText(description, 4_000) }),
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
  const [head = "", ...literals] = template.split(/\{[^{}]*\}/u);
  const tail = literals.pop();
  if (tail === undefined) return uri === template;
  if (uri.length < head.length + tail.length) return false;
  if (!uri.startsWith(head) || !uri.endsWith(tail)) return false;
  const end = uri.length - tail.length;
  let at = head.length;
  for (const literal of literals) {
    const found = uri.indexOf(literal, at);
    if (found === -1 || found + literal.length > end) return false;
    at = found + literal.length;
  }
  return true;
}
