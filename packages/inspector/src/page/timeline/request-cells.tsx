// The row of a model request: its model and tokens, and a bar of waiting for the first token and of streaming.

import { visibleLine } from "@soong/core";
import type { RequestRow } from "../../wire/request-records.ts";
import { findSign, type Sign } from "../parts/signs.tsx";
import { countText } from "../parts/text.tsx";
import { durationText } from "../parts/time.ts";
import type { Extent } from "./axis.ts";
import { placeTime } from "./axis.ts";

export function requestName({ request, model, purpose }: RequestRow): string {
  const what = purpose === undefined ? `Request ${request}` : `Request ${request}, ${purpose}`;
  return `${what} · ${visibleLine(model)}`;
}

/** Tokens, cost, retries and fallbacks, in a line. */
export function requestSummary({ usage = {}, ...row }: RequestRow): string {
  const { input_tokens, output_tokens, cache_read_tokens } = usage;
  const { attempts, fallbacks = [], cost, currency = "", error } = row;
  const cached = cache_read_tokens === undefined ? "" : ` (${countText(cache_read_tokens)} cached)`;
  const parts = [
    input_tokens === undefined ? "" : `${countText(input_tokens)} in${cached}`,
    output_tokens === undefined ? "" : `${countText(output_tokens)} out`,
    typeof cost === "number" ? `${cost.toFixed(4)} ${currency}`.trim() : "",
    attempts > 1 ? `${attempts} attempts` : "",
    ...fallbacks.map(({ from, to, reason }) => `${from} → ${to}: ${reason}`),
    error ?? "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

export function requestSign({ status }: RequestRow, isLive: boolean): Sign {
  return findSign(status === "running" && !isLive ? "left_open" : status);
}

/** Waiting until the first token, and streaming after it; without a first token on record, one bar. */
export function placeRequestBars(row: RequestRow, extent: Extent, now: number) {
  const end = row.ended_at ?? now;
  const first = row.first_token_at;
  const spans: [kind: string, from: number, to: number][] =
    first === undefined
      ? [["request-wait", row.started_at, end]]
      : [
          ["request-wait", row.started_at, first],
          ["request-stream", first, end],
        ];
  return spans.flatMap(([kind, from, to]) => {
    const left = Math.max(0, placeTime(extent, from));
    const right = Math.min(100, placeTime(extent, to));
    return right < 0 || left > 100 || right < left ? [] : [{ kind, left, width: right - left }];
  });
}

export function requestBarsText(row: RequestRow, now: number): string {
  const total = durationText(Math.max(0, (row.ended_at ?? now) - row.started_at));
  if (row.first_token_at === undefined) return `took ${total}`;
  return `first token after ${durationText(row.first_token_at - row.attempted_at)}, took ${total}`;
}
