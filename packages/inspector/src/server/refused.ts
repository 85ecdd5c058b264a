// How a request fails: a status and a Problem, made of whatever was thrown. A sentence always, a stack trace never.

import { StoreError, type StoreErrorCode } from "@soong/store";
import type { Problem, ProblemCode } from "../wire/index.ts";
import { InspectorError } from "./ports.ts";

export interface Refused {
  readonly status: number;
  readonly problem: Problem;
  /** The methods there are, where it was another one. */
  readonly allow?: readonly string[];
}

const STATUS: Readonly<Record<ProblemCode, number>> = {
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  bad_request: 400,
  too_large: 413,
  settled: 409,
  gone: 410,
  unsupported: 501,
  failed: 500,
};

const NOT_THERE: ReadonlySet<StoreErrorCode> = new Set([
  "session_unknown",
  "session_removed",
  "run_unknown",
  "node_unknown",
] as const);

export function refused(code: ProblemCode, message: string, status = STATUS[code]): Refused {
  return { status, problem: { error: { code, message } } };
}

/** A refusal with a status of its own. */
export class RefusedRequest extends Error {
  readonly refused: Refused;

  constructor(refusal: Refused) {
    super(refusal.problem.error.message);
    this.name = "RefusedRequest";
    this.refused = refusal;
  }
}

export function refusedBy(error: unknown): Refused {
  if (error instanceof RefusedRequest) return error.refused;
  if (error instanceof InspectorError) return refused(error.code, error.message);
  if (error instanceof StoreError) {
    return refused(NOT_THERE.has(error.code) ? "not_found" : "failed", error.message);
  }
  const [message = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return refused(
    "failed",
    `The inspector could not answer: ${message === "" ? "it does not know why" : message}. Try again, or start it anew.`,
  );
}
