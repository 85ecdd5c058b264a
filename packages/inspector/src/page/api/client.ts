// Requests to the server of this page, typed by its list of routes. What goes wrong is thrown as a RequestFailed with a
// sentence that can be shown where the answer would have been.

import type { PathNames, Problem, ProblemCode, Routes } from "../../wire/routes.ts";

export interface Api {
  /** `api.ask("GET /api/tasks/:task_id", { path: { task_id }, signal })`. */
  ask<Key extends keyof Routes>(key: Key, asked: Asked<Key>): Promise<Routes[Key]["answer"]>;
}

export class RequestFailed extends Error {
  override readonly name = "RequestFailed";
  /** `unreachable`: no one answered. It may do so later. */
  readonly code: ProblemCode | "unreachable";

  constructor(code: ProblemCode | "unreachable", message: string) {
    super(message);
    this.code = code;
  }
}

interface ApiOptions {
  token: string;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Called after each request that was answered, or not. */
  onReached(): void;
  onUnreachable(): void;
  onUnauthorized(): void;
}

export function createApi(options: ApiOptions): Api {
  return {
    async ask(key, asked) {
      const { method, url, init } = buildRequest(key, asked, options.token);
      let response: Response;
      let text: string;
      try {
        response = await options.fetch(url, { ...init, method });
        text = await response.text();
      } catch (error) {
        // An abort by the caller says nothing about the server.
        if (isAbort(error) || isAbort(init.signal?.reason)) throw error;
        options.onUnreachable();
        const message = "The inspector did not answer. Is `soong inspect` still running?";
        throw new RequestFailed("unreachable", message);
      }
      const body = parseJson(text);
      const problem = response.ok && body !== undefined ? undefined : readProblem(response, body);
      if (problem?.code === "unauthorized") options.onUnauthorized();
      else options.onReached();
      if (problem !== undefined) throw problem;
      return body as Routes[typeof key]["answer"];
    },
  };
}

export type Asked<Key extends keyof Routes> = PathOf<Key> &
  QueryOf<Routes[Key]> &
  BodyOf<Routes[Key]> & { signal?: AbortSignal };
type PathOf<Key extends string> = [PathNames<Key>] extends [never]
  ? unknown
  : { path: Readonly<Record<PathNames<Key>, string>> };
type QueryOf<Route> = Route extends { query: infer Query }
  ? Partial<Query> extends Query
    ? { query?: Query }
    : { query: Query }
  : unknown;
type BodyOf<Route> = Route extends { body: infer Body } ? { body: Body } : unknown;

export interface AnyAsked {
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  signal?: AbortSignal;
}

export function buildRequest(key: string, asked: AnyAsked, token: string) {
  const { path: parts = {}, query = {}, body, signal } = asked;
  const [method = "GET", pattern = ""] = key.split(" ");
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(parts[name] ?? ""),
  );
  const given = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const search = new URLSearchParams(given).toString();
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  const init: RequestInit = { headers, cache: "no-store", body: JSON.stringify(body), signal };
  return { method, url: search === "" ? path : `${path}?${search}`, init };
}

/** What went wrong, as a sentence to show. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

function readProblem({ status }: Response, body: unknown): RequestFailed {
  const { code, message } = (body as Partial<Problem> | null | undefined)?.error ?? {};
  if (typeof code === "string" && typeof message === "string") {
    return new RequestFailed(code, message);
  }
  if (status === 401) return new RequestFailed("unauthorized", "The token is missing or wrong.");
  return new RequestFailed(
    "failed",
    `The inspector answered with status ${status} and nothing this page understands.`,
  );
}

/** Undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
