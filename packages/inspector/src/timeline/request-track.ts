// One model request as its facts tell of it, over all its attempts.

import type { Fact } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import type { RequestRow } from "../wire/request-records.ts";
import { oneLine } from "./read-data.ts";

const MOST_ERROR_CHARS = 400;

/** Requests of one run, by their number. */
export type RequestTracks = Map<number, RequestRow>;

/** The row that the fact made or changed; undefined: it says nothing of a request. */
export function takeRequestFact(
  requests: RequestTracks,
  fact: Fact,
  at: number | undefined,
): RequestRow | undefined {
  if (fact.type === "model.started") return begin(requests, fact, at);
  if (fact.type === "routing.fallback") {
    const { request, from, to, reason } = fact.data;
    const row = requests.get(request);
    if (row === undefined) return undefined;
    row.fallbacks = [...(row.fallbacks ?? []), { from, to, reason }];
    return row;
  }
  if (fact.type !== "model.completed" && fact.type !== "model.failed") return undefined;
  const row = requests.get(fact.data.request);
  if (row === undefined) return undefined;
  const { usage, cost, first_token_ms } = fact.data;
  row.ended_at = Math.max(row.attempted_at, at ?? row.attempted_at);
  if (first_token_ms !== undefined) {
    row.first_token_at = Math.min(row.attempted_at + first_token_ms, row.ended_at);
  }
  row.usage = usage ?? row.usage;
  row.cost = cost ? cost.micros / 1_000_000 : null;
  if (cost) row.currency = cost.currency;
  if (fact.type === "model.completed") {
    row.status = "completed";
    row.stop = fact.data.stop;
    row.calls = fact.data.calls;
  } else {
    const { error } = fact.data;
    row.status = error.kind === "aborted" ? "aborted" : "failed";
    row.error = oneLine(error.message ?? error.kind, MOST_ERROR_CHARS);
  }
  return row;
}

function begin(
  requests: RequestTracks,
  { seq, run_id = "", data }: Fact<"model.started">,
  at: number | undefined,
): RequestRow {
  const { request, attempt, model, purpose } = data;
  const before = requests.get(request);
  const now = Math.max(before?.ended_at ?? 0, at ?? before?.ended_at ?? 0);
  const row: RequestRow = before ?? {
    run_id,
    request,
    seq,
    model,
    status: "running",
    started_at: now,
    attempted_at: now,
    attempts: 0,
    ...omitUndefined({ purpose }),
  };
  requests.set(request, row);
  row.model = model;
  row.attempts = Math.max(row.attempts + 1, attempt);
  row.attempted_at = now;
  row.status = "running";
  delete row.ended_at;
  delete row.first_token_at;
  delete row.error;
  return row;
}

/** No one waits for an answer any more. True where that made a difference. */
export function endRequestRun(row: RequestRow, at: number | undefined): boolean {
  if (row.status !== "running") return false;
  row.status = "aborted";
  row.ended_at = Math.max(row.attempted_at, at ?? row.attempted_at);
  return true;
}
