// Requests to the server of this page, typed by its list of routes. What goes wrong is thrown as a RequestFailed with a
// sentence that can be shown where the answer would have been.

import type { PathNames, Problem, ProblemCode, Routes } from "../../wire/index.ts";

export interface Api {
  /** `api.ask("GET /api/tasks/:task_id", { path: { task_id }, signal })`. */
  ask<Key extends keyof Routes>(key: Key, asked: Asked<Key>): Promise<Routes[Key]["answer"]>;
}

export class RequestFailed extends Error {
  /** `unreachable`: no one answered. It may do so later. */
  readonly code: ProblemCode | "unreachable";

  constructor(code: ProblemCode | "unreachable", message: string) {
    super(message);
    this.name = "RequestFailed";
    this.code = code;
  }
}

export interface ApiOptions {
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
      const { method, url, init } = requestOf(key, asked, options.token);
      const response = await reached(options, url, { ...init, method });
      const answer = await answerOf(options, response);
      options.onReached();
      return answer as Routes[typeof key]["answer"];
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

export function requestOf(
  key: string,
  asked: AnyAsked,
  token: string,
): { method: string; url: string; init: RequestInit } {
  const [method = "GET", pattern = ""] = key.split(" ");
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(asked.path?.[name] ?? ""),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked.query ?? {})) {
    if (value !== undefined) query.set(name, value);
  }
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  if (asked.body !== undefined) headers["content-type"] = "application/json";
  return {
    method,
    url: query.size === 0 ? path : `${path}?${query.toString()}`,
    init: {
      headers,
      cache: "no-store",
      ...(asked.body === undefined ? {} : { body: JSON.stringify(asked.body) }),
      signal: asked.signal,
    },
  };
}

async function reached(options: ApiOptions, url: string, init: RequestInit): Promise<Response> {
  try {
    return await options.fetch(url, init);
  } catch (error) {
    throw unreachable(options, init.signal ?? undefined, error);
  }
}

async function answerOf(options: ApiOptions, response: Response): Promise<unknown> {
  const text = await response.text().catch((error: unknown) => {
    throw unreachable(options, undefined, error);
  });
  const body = parsed(text);
  if (response.ok && body !== undefined) return body;
  const problem = problemOf(response.status, body);
  if (problem.code === "unauthorized") options.onUnauthorized();
  else options.onReached();
  throw problem;
}

function unreachable(options: ApiOptions, signal: AbortSignal | undefined, error: unknown): Error {
  // An abort by the caller says nothing about the server.
  if (isAbort(error) || isAbort(signal?.reason)) return error as Error;
  options.onUnreachable();
  return new RequestFailed(
    "unreachable",
    "The inspector did not answer. Is `soong inspect` still running?",
  );
}

/** What went wrong, as a sentence to show. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

function problemOf(status: number, body: unknown): RequestFailed {
  if (isProblem(body)) return new RequestFailed(body.error.code, body.error.message);
  if (status === 401) return new RequestFailed("unauthorized", "The token is missing or wrong.");
  return new RequestFailed(
    "failed",
    `The inspector answered with status ${status} and nothing this page understands.`,
  );
}

function isProblem(body: unknown): body is Problem {
  if (typeof body !== "object" || body === null || !("error" in body)) return false;
  const { error } = body;
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    "message" in error &&
    typeof error.code === "string" &&
    typeof error.message === "string"
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
