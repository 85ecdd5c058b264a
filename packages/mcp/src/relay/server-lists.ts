// What one connected server lists beside its tools: asked for when it is needed, kept until the server says it is
// another. A server that does not answer in time has nothing to list, for a while, and holds no one else up.

import { messageOf, type Clock, type JsonObject } from "@soong/core";
import { listTools, safeLine } from "../catalog/index.ts";
import { McpRequestFailure, type ConnectedServer } from "../connection/index.ts";
import {
  readPrompt,
  readResource,
  readTemplate,
  type ListedPrompt,
  type ListedResource,
  type ListedTemplate,
} from "./listed-items.ts";

export interface ServerLists {
  prompts(): Promise<readonly ListedPrompt[]>;
  resources(): Promise<readonly ListedResource[]>;
  templates(): Promise<readonly ListedTemplate[]>;
  forget(what: "prompts" | "resources"): void;
}

const LIMITS = { maxPages: 50, maxTools: 2_000, maxChars: 4 * 1024 * 1024 };
const LIST_TIMEOUT_MS = 10_000;
const FAILED_FOR_MS = 15_000;

interface Kept<T> {
  readonly items: Promise<readonly T[]>;
  /** Of one that failed: when to ask again. */
  askAgainAt: number;
}

export function createServerLists(
  server: ConnectedServer,
  clock: Clock,
  onProblem: (problem: string) => void,
): ServerLists {
  const prompts = keep("prompts", "prompts/list", "prompts", readPrompt, ({ name }) => name);
  const resources = keep(
    "resources",
    "resources/list",
    "resources",
    readResource,
    ({ uri }) => uri,
  );
  const templates = keep(
    "resources",
    "resources/templates/list",
    "resourceTemplates",
    readTemplate,
    ({ uriTemplate }) => uriTemplate,
  );

  return {
    prompts: prompts.items,
    resources: resources.items,
    templates: templates.items,
    forget(what) {
      if (what === "prompts") return prompts.forget();
      resources.forget();
      templates.forget();
    },
  };

  function keep<T>(
    capability: string,
    method: string,
    key: string,
    read: (given: unknown) => T | undefined,
    idOf: (item: T) => string,
  ): { items: () => Promise<readonly T[]>; forget: () => void } {
    let kept: Kept<T> | undefined;
    return {
      items() {
        if (server.capabilities[capability] === undefined) return Promise.resolve([]);
        if (kept === undefined || clock.monotonic() >= kept.askAgainAt) {
          const asked: Kept<T> = { items: list(), askAgainAt: Number.POSITIVE_INFINITY };
          kept = asked;
          asked.items.catch(() => {
            asked.askAgainAt = clock.monotonic() + FAILED_FOR_MS;
          });
        }
        return kept.items.catch(() => []);
      },
      forget() {
        kept = undefined;
      },
    };

    async function list(): Promise<readonly T[]> {
      const enough = new AbortController();
      const disarm = clock.after(LIST_TIMEOUT_MS, () => enough.abort());
      try {
        const found = await listTools({ listToolsPage: page }, enough.signal, LIMITS);
        if (found.cutShort !== undefined) {
          onProblem(
            `${method}: the list is not whole (${found.cutShort.replaceAll("tools", "items")})`,
          );
        }
        const byId = new Map<string, T>();
        for (const given of found.tools) {
          const item = read(given);
          if (item !== undefined && !byId.has(idOf(item))) byId.set(idOf(item), item);
        }
        return [...byId.values()];
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

    async function page(cursor: string | undefined, signal = new AbortController().signal) {
      const options = { signal, timeoutMs: LIST_TIMEOUT_MS };
      const params: JsonObject = cursor === undefined ? {} : { cursor };
      const { [key]: items, nextCursor } = await server.request(method, params, options);
      if (!Array.isArray(items)) {
        throw new McpRequestFailure("invalid_answer", `the answer to ${method} has no list`);
      }
      const isCursor = typeof nextCursor === "string" && nextCursor !== "";
      return { tools: items, next_cursor: isCursor ? nextCursor : undefined };
    }
  }
}
