// Tokens, costs and durations as the user reads them. What is not known is said to be that, and never shown as nothing (EVENT-7).

import type { HomeOverview } from "../../wire/overview-records.ts";
import type { SessionRow } from "../../wire/session-records.ts";
import { countText } from "../parts/text.tsx";
import { durationText } from "../parts/time.ts";

export type Used = NonNullable<HomeOverview["used"]>["total"];

/** `8,568`, `12.4k`, `3.1M`: few letters, for a column. */
export function shortCount(count: number): string {
  if (count < 10_000) return countText(count);
  if (count < 999_950) return `${(count / 1000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** Of all tokens; empty where no model was asked. */
export function tokensText(usage: Used): string {
  const { requests, untold, input_tokens, output_tokens } = usage;
  if (requests === 0) return "";
  if (input_tokens === undefined && output_tokens === undefined) return "unknown";
  const sum = shortCount((input_tokens ?? 0) + (output_tokens ?? 0));
  return untold > 0 ? `≥ ${sum}` : sum;
}

/** `8,544 tokens in, 24 out`, for those who want it exactly. */
export function tokensTitle({ requests, untold, input_tokens, output_tokens }: Used): string {
  if (requests === 0) return "No model was asked.";
  const asked = `${countText(requests)} ${requests === 1 ? "request" : "requests"}`;
  if (input_tokens === undefined && output_tokens === undefined) {
    return `${asked}; the provider did not report tokens`;
  }
  const atLeast = untold > 0 ? "at least " : "";
  return `${asked}, ${atLeast}${countText(input_tokens ?? 0)} tokens in, ${countText(output_tokens ?? 0)} out`;
}

/** `0.52 USD`, `≥ 0.52 USD`, `unknown`; empty where no model was asked. */
export function costText({ requests, unpriced, cost }: Used): string {
  if (requests === 0) return "";
  if (cost === null || cost.length === 0) return "unknown";
  const sum = cost.map(({ currency, micros }) => `${amountText(micros)} ${currency}`).join(" + ");
  return unpriced > 0 ? `≥ ${sum}` : sum;
}

/** Why a cost is not the whole; empty where it is. */
export function costNote({ requests, unpriced }: Used): string {
  if (unpriced === 0) return "";
  const those = unpriced === requests ? "all" : `${countText(unpriced)} of ${countText(requests)}`;
  return `The price of ${those} ${requests === 1 ? "request" : "requests"} is unknown.`;
}

/** Two decimals, and more where there would be nothing else. */
function amountText(micros: number): string {
  const amount = micros / 1_000_000;
  return amount !== 0 && amount < 0.1 ? amount.toFixed(4) : amount.toFixed(2);
}

const MINUTE = 60_000;

/** Since a time on record, in whole seconds: it counts up while someone looks. */
export function elapsedText(since: string, now: number): string {
  const ms = Math.max(0, now - Date.parse(since));
  if (Number.isNaN(ms)) return "";
  return ms < MINUTE ? `${Math.floor(ms / 1000)} s` : durationText(ms);
}

/** How long its turns have worked by now; empty where it had none. */
export function workedText({ updated_at, summary, live }: SessionRow, now: number): string {
  if (summary === undefined || summary.turns === 0) return "";
  const { status, worked_ms } = summary;
  const isWorking = status === "running" || status === "waiting_for_approval";
  if (live === undefined || !isWorking) return durationText(worked_ms);
  return durationText(worked_ms + Math.max(0, now - Date.parse(updated_at)));
}
