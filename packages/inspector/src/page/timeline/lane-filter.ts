// Which calls of a timeline are shown: by words, and by how they stand.

import type { Lane } from "../../wire/index.ts";

export interface LaneFilter {
  text: string;
  status: LaneStatus;
}

export const LANE_STATUSES = [
  "any",
  "waiting",
  "going_on",
  "left_open",
  "succeeded",
  "not_succeeded",
] as const;
export type LaneStatus = (typeof LANE_STATUSES)[number];

export const NO_FILTER: LaneFilter = { text: "", status: "any" };

/** Undefined: all of them. */
export function keepOf(
  { text, status }: LaneFilter,
  isLive: boolean,
): ((lane: Lane) => boolean) | undefined {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0 && status === "any") return undefined;
  return (lane) => stands(lane, status, isLive) && has(lane, words);
}

function has(lane: Lane, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = `${lane.tool_name} ${lane.summary ?? ""} ${lane.tool_call_id}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function stands(lane: Lane, status: LaneStatus, isLive: boolean): boolean {
  switch (status) {
    case "any":
      return true;
    case "waiting":
      return isLive && lane.state === "waiting";
    case "going_on":
      return isLive && lane.state !== "ended";
    case "left_open":
      return !isLive && lane.state !== "ended";
    case "succeeded":
      return isGood(lane.outcome);
    case "not_succeeded":
      return lane.outcome !== undefined && !isGood(lane.outcome);
  }
}

export function isGood(outcome: string | undefined): boolean {
  return outcome === "succeeded" || outcome === "partial";
}
