// Which handler a request is for. Parts of a path are what is between two slashes, decoded one by one: nothing in a
// path leads to another one.

import type { IncomingMessage } from "node:http";
import { bad, readQuery, type Asked, type Handlers, type RouteName } from "./handler.ts";
import { InspectorError } from "./ports.ts";
import { readBody } from "./read-body.ts";

export interface Router {
  /** Answers a request for a record; throws what refuses it. */
  answer(request: IncomingMessage, signal: AbortSignal): Promise<unknown>;
}

interface Route {
  readonly name: RouteName;
  readonly method: string;
  readonly segments: readonly string[];
}

export function createRouter(handlers: Handlers, bodyMs: number): Router {
  const routes = (Object.keys(handlers) as RouteName[]).map(routeOf);

  return {
    async answer(request, signal) {
      const [path = "", query = ""] = (request.url ?? "").split(/\?(.*)/su);
      const segments = path.split("/");
      const here = routes.filter((route) => isPath(route, segments));
      if (here.length === 0) {
        throw new InspectorError("not_found", "The inspector has no such address.");
      }
      const route = here.find(({ method }) => method === request.method);
      if (route === undefined) {
        const allow = here.map(({ method }) => method);
        const message = `This address takes ${allow.join(" and ")} only.`;
        throw new InspectorError("bad_request", message, { status: 405, allow });
      }
      return ask(route, segments, query, request, signal);
    },
  };

  async function ask(
    { name, segments: pattern }: Route,
    segments: readonly string[],
    query: string,
    request: IncomingMessage,
    signal: AbortSignal,
  ): Promise<unknown> {
    // Each was checked against its route; here all of them are one.
    const handler: AnyHandler = handlers[name];
    const parts: Record<string, string> = {};
    for (const [i, segment] of pattern.entries()) {
      if (segment.startsWith(":")) parts[segment.slice(1)] = decoded(segments[i] ?? "");
    }
    return handler.handle({
      parts,
      query: readQuery(query, handler.query ?? []),
      body: handler.body?.(await readBody(request, bodyMs)),
      signal,
    });
  }
}

interface AnyHandler {
  readonly query?: readonly string[];
  readonly body?: (given: unknown) => unknown;
  handle(asked: Omit<Asked<RouteName>, "parts" | "query" | "body"> & AnyAsked): Promise<unknown>;
}

interface AnyAsked {
  readonly parts: Readonly<Record<string, string>>;
  readonly query: ReturnType<typeof readQuery>;
  readonly body: unknown;
}

function routeOf(name: RouteName): Route {
  const [method = "", path = ""] = name.split(" ");
  return { name, method, segments: path.split("/") };
}

function isPath({ segments }: Route, given: readonly string[]): boolean {
  return (
    segments.length === given.length &&
    segments.every((segment, i) =>
      segment.startsWith(":") ? given[i] !== "" : segment === given[i],
    )
  );
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw bad("The address is not encoded as addresses are.");
  }
}
