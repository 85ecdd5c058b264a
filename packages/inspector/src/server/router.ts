// Every request for a record: what a handler of a route is given (parts of the path, values of the query, the body, as its
// route says), and which handler a request is for. Parts of a path are what is between two slashes, decoded one by one:
// nothing in a path leads to another one. What is wrong is refused by name.

import type { IncomingMessage } from "node:http";
import type { PathNames, Routes } from "../wire/routes.ts";
import { readBody } from "./read-body.ts";
import { bad, InspectorError, missing } from "./ports.ts";

type RouteName = keyof Routes;
type BodyOf<R extends RouteName> = Routes[R] extends { body: infer B } ? B : undefined;
type QueryName<R extends RouteName> = Routes[R] extends { query: infer Q }
  ? keyof Q & string
  : never;

interface Asked<PathName extends string, Name extends string, Body> {
  readonly parts: { readonly [P in PathName]: string };
  readonly query: Query<Name>;
  readonly body: Body;
  /** Fires when no one waits for the answer any more. */
  readonly signal: AbortSignal;
}

interface Handler<PathName extends string, Name extends string, Body, Answer> {
  readonly query?: readonly Name[];
  readonly body?: (given: unknown) => Body;
  handle(asked: Asked<PathName, Name, Body>): Promise<Answer>;
}

/** One of each: a route without a handler does not compile. */
export type Handlers = {
  readonly [R in RouteName]: Handler<PathNames<R>, QueryName<R>, BodyOf<R>, Routes[R]["answer"]>;
};

/** Answers a request for a record; throws what refuses it. */
export function createRouter(handlers: Handlers, bodyMs: number) {
  // Each was checked against its route; here all of them are one.
  const all: Readonly<Record<string, Handler<string, string, unknown, unknown>>> = handlers;
  const routes = Object.entries(all).map(([name, handler]) => {
    const [method = "", path = ""] = name.split(" ");
    return { method, pattern: path.split("/"), handler };
  });

  return async (request: IncomingMessage, signal: AbortSignal): Promise<unknown> => {
    const [path = "", query = ""] = (request.url ?? "").split(/\?(.*)/su);
    const segments = path.split("/");
    const here = routes.filter(({ pattern }) => isPath(pattern, segments));
    if (here.length === 0) throw missing("The inspector has no such address.");
    const route = here.find(({ method }) => method === request.method);
    if (route === undefined) {
      const allow = here.map(({ method }) => method);
      const message = `This address takes ${allow.join(" and ")} only.`;
      throw new InspectorError("bad_request", message, { status: 405, allow });
    }
    const { pattern, handler } = route;
    const parts: Record<string, string> = {};
    for (const [i, segment] of pattern.entries()) {
      if (segment.startsWith(":")) parts[segment.slice(1)] = decodeSegment(segments[i] ?? "");
    }
    return handler.handle({
      parts,
      query: readQuery(query, handler.query ?? []),
      body: handler.body?.(await readBody(request, bodyMs)),
      signal,
    });
  };
}

function isPath(pattern: readonly string[], given: readonly string[]): boolean {
  return (
    pattern.length === given.length &&
    pattern.every((segment, i) =>
      segment.startsWith(":") ? given[i] !== "" : segment === given[i],
    )
  );
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw bad("The address is not encoded as addresses are.");
  }
}

const LONGEST_VALUE = 4096;

type Query<Name extends string> = ReturnType<typeof readQuery<Name>>;

function readQuery<Name extends string>(text: string, names: readonly Name[]) {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (!(names as readonly string[]).includes(name)) {
      const known = names.length === 0 ? "none" : names.join(", ");
      throw bad(`The query has "${name.slice(0, 80)}"; it may have ${known}.`);
    }
    if (values.has(name)) throw bad(`The query has ${name} twice.`);
    if (value.length > LONGEST_VALUE)
      throw bad(`${name} may have ${LONGEST_VALUE} characters, and this one is longer.`);
    values.set(name, value);
  }

  return {
    text: (name: Name): string | undefined => values.get(name),
    /** Refused when it is omitted or empty. */
    needed(name: Name): string {
      const given = values.get(name);
      if (!given) throw bad(`The query needs ${name}.`);
      return given;
    },
    /** `otherwise`: where it may be omitted. */
    whole(name: Name, min: number, max: number, otherwise?: number): number {
      const given = values.get(name);
      if (given === undefined && otherwise !== undefined) return otherwise;
      return wholeNumber(name, given, min, max);
    },
    /** `1`, or omitted. */
    flag(name: Name): boolean {
      const given = values.get(name);
      if (given === undefined || given === "1") return given === "1";
      throw bad(`${name} is 1 or omitted.`);
    },
  };
}

export function wholeNumber(name: string, given: string | undefined, min: number, max: number) {
  const value = /^\d{1,15}$/u.test(given ?? "") ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw bad(`${name} must be a whole number from ${min} to ${max}.`);
}
