// Which calls of a timeline are shown: by words and by status.

import type { Lane } from "../../wire/index.ts";
import { matcherOf } from "../parts/text.tsx";

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
  if (text.trim() === "" && status === "any") return undefined;
  const matches = matcherOf(text);
  return (lane) =>
    hasStatus(lane, status, isLive) &&
    matches(`${lane.tool_name} ${lane.summary ?? ""} ${lane.tool_call_id}`);
}

function hasStatus(lane: Lane, status: LaneStatus, isLive: boolean): boolean {
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
      return isSuccess(lane.outcome);
    case "not_succeeded":
      return lane.outcome !== undefined && !isSuccess(lane.outcome);
  }
}

function isSuccess(outcome: string | undefined): boolean {
  return outcome === "succeeded" || outcome === "partial";
}
