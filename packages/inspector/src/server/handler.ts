// What a handler of a route is: what it is given of the server and of a request (parts of the path, values of the query,
// the body, as its route says), and what it answers. What is wrong is refused by name.

import type { About, Changes, PathNames, Routes } from "../wire/index.ts";
import type { ChangesAsked } from "./changes.ts";
import type { HomeStore } from "./home-store.ts";
import { InspectorError, type InspectorPorts } from "./ports.ts";
import type { Redact } from "./safe-cut.ts";
import type { SessionIndexes } from "./session-indexes.ts";

export interface HandlerParts {
  readonly about: Omit<About, "can">;
  readonly ports: InspectorPorts;
  readonly store: HomeStore;
  readonly indexes: SessionIndexes;
  readonly changes: (asked: ChangesAsked) => Promise<Changes>;
  readonly redact: Redact;
}

export type RouteName = keyof Routes;

type BodyOf<R extends RouteName> = Routes[R] extends { body: infer B } ? B : never;
export type QueryName<R extends RouteName> = Routes[R] extends { query: infer Q }
  ? keyof Q & string
  : never;

export interface Asked<R extends RouteName> {
  readonly parts: { readonly [P in PathNames<R>]: string };
  readonly query: Query<QueryName<R>>;
  readonly body: BodyOf<R>;
  /** Fires when no one waits for the answer any more. */
  readonly signal: AbortSignal;
}

export type Handler<R extends RouteName> = {
  handle(asked: Asked<R>): Promise<Routes[R]["answer"]>;
} & ([QueryName<R>] extends [never]
  ? { readonly query?: undefined }
  : { readonly query: readonly QueryName<R>[] }) &
  (Routes[R] extends { body: unknown }
    ? { readonly body: (given: unknown) => BodyOf<R> }
    : { readonly body?: undefined });

/** One of each: a route without a handler does not compile. */
export type Handlers = { readonly [R in RouteName]: Handler<R> };

export interface Query<Name extends string> {
  text(name: Name): string | undefined;
  /** Refused when it is omitted or empty. */
  needed(name: Name): string;
  whole(name: Name, bounds: WholeBounds): number;
  /** `1`, or omitted. */
  flag(name: Name): boolean;
}

export interface WholeBounds {
  readonly min: number;
  readonly max: number;
  /** Where it may be omitted. */
  readonly otherwise?: number;
}

const LONGEST_VALUE = 4096;

export function readQuery<Name extends string>(text: string, names: readonly Name[]): Query<Name> {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (!(names as readonly string[]).includes(name)) {
      const known = names.length === 0 ? "none" : names.join(", ");
      throw bad(`The query has "${name.slice(0, 80)}"; it may have ${known}.`);
    }
    if (values.has(name)) throw bad(`The query has ${name} twice.`);
    if (value.length > LONGEST_VALUE) {
      throw bad(`${name} may have ${LONGEST_VALUE} characters, and this one is longer.`);
    }
    values.set(name, value);
  }

  return {
    text: (name) => values.get(name),
    needed,
    whole(name, bounds) {
      const given = values.get(name);
      if (given === undefined && bounds.otherwise !== undefined) return bounds.otherwise;
      return wholeNumber(name, given, bounds);
    },
    flag(name) {
      const given = values.get(name);
      if (given === undefined || given === "1") return given === "1";
      throw bad(`${name} is 1 or omitted.`);
    },
  };

  function needed(name: Name): string {
    const given = values.get(name);
    if (given === undefined || given === "") throw bad(`The query needs ${name}.`);
    return given;
  }
}

export function wholeNumber(name: string, given: string | undefined, bounds: WholeBounds): number {
  const { min, max } = bounds;
  const value = /^\d{1,15}$/u.test(given ?? "") ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw bad(`${name} must be a whole number from ${min} to ${max}.`);
}

export function bad(message: string): InspectorError {
  return new InspectorError("bad_request", message);
}
