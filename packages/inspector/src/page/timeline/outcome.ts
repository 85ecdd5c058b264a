// How a call or a run stands, as a sign and a word: never as a colour alone.

import type { Lane, RunRow } from "../../wire/index.ts";

export interface Mark {
  sign: string;
  word: string;
  tone: "good" | "bad" | "warn" | "quiet" | "waiting" | "going";
}

export function laneMark(lane: Lane, isLive: boolean): Mark {
  if (lane.state !== "ended" && !isLive) return { sign: "╌", word: "left open", tone: "warn" };
  switch (lane.state) {
    case "waiting":
      return { sign: "?", word: "waiting", tone: "waiting" };
    case "executing":
      return { sign: "▶", word: "executing", tone: "going" };
    case "queued":
      return { sign: "⋯", word: "queued", tone: "quiet" };
    case "arriving":
      return { sign: "⇢", word: "arriving", tone: "quiet" };
    case "holding":
    case "ended":
      return outcomeMark(lane.outcome, lane.state === "holding" ? "holding" : "ended");
  }
}

const OUTCOMES: ReadonlyMap<string, Mark> = new Map<string, Mark>([
  ["succeeded", { sign: "✓", word: "succeeded", tone: "good" }],
  ["partial", { sign: "◐", word: "partial", tone: "good" }],
  ["failed", { sign: "✕", word: "failed", tone: "bad" }],
  ["timed_out", { sign: "◷", word: "timed out", tone: "bad" }],
  ["unknown", { sign: "‽", word: "unknown", tone: "bad" }],
  ["denied", { sign: "⊘", word: "denied", tone: "warn" }],
  ["rejected", { sign: "⊘", word: "rejected", tone: "warn" }],
  ["aborted", { sign: "■", word: "aborted", tone: "warn" }],
  ["cancelled", { sign: "■", word: "cancelled", tone: "warn" }],
  ["skipped", { sign: "↷", word: "skipped", tone: "quiet" }],
  ["discarded", { sign: "∅", word: "discarded", tone: "quiet" }],
]);

function outcomeMark(outcome: string | undefined, otherwise: string): Mark {
  if (outcome === undefined) return { sign: "·", word: otherwise, tone: "quiet" };
  return OUTCOMES.get(outcome) ?? { sign: "·", word: outcome, tone: "quiet" };
}

export function runMark(run: RunRow, isLive: boolean): Mark {
  switch (run.status) {
    case "queued":
      return { sign: "⋯", word: "queued", tone: "quiet" };
    case "running":
      if (isLive) return { sign: "▶", word: "running", tone: "going" };
      return { sign: "╌", word: "left open", tone: "warn" };
    case "completed":
      return { sign: "✓", word: "completed", tone: "good" };
    case "failed":
      return { sign: "✕", word: "failed", tone: "bad" };
    case "aborted":
      return { sign: "■", word: "aborted", tone: "warn" };
  }
}
