// The line above a timeline: which calls, which part of the time, whether it follows.

import type { Lane } from "../../wire/session-records.ts";
import { Button, SignButton } from "../parts/button.tsx";
import { Select, TextInput } from "../parts/input.tsx";
import { countText, createMatcher } from "../parts/text.tsx";
import type { Axis } from "./axis.ts";

const STATUS_WORDS = {
  any: "All calls",
  waiting: "Waiting for the user",
  going_on: "Going on",
  left_open: "Left open",
  succeeded: "Succeeded",
  not_succeeded: "Not succeeded",
} as const;

/** Which calls of a timeline are shown: by words and by status. */
export interface LaneFilter {
  text: string;
  status: keyof typeof STATUS_WORDS;
}

/** Undefined: all of them. */
export function createLaneFilter(
  { text, status }: LaneFilter,
  isLive: boolean,
): ((lane: Lane) => boolean) | undefined {
  if (text.trim() === "" && status === "any") return undefined;
  const matches = createMatcher(text);
  return (lane) =>
    hasStatus(lane, status, isLive) &&
    matches(`${lane.tool_name} ${lane.about ?? ""} ${lane.summary ?? ""} ${lane.tool_call_id}`);
}

function hasStatus(lane: Lane, status: LaneFilter["status"], isLive: boolean): boolean {
  const { state, outcome } = lane;
  const isSuccess = outcome === "succeeded" || outcome === "partial";
  return {
    any: true,
    waiting: isLive && state === "waiting",
    going_on: isLive && state !== "ended",
    left_open: !isLive && state !== "ended",
    succeeded: isSuccess,
    not_succeeded: outcome !== undefined && !isSuccess,
  }[status];
}

export function TimelineTools(props: {
  filter: LaneFilter;
  onFilter: (filter: LaneFilter) => void;
  shown: number;
  of: number;
  axis: Axis;
  /** Undefined: nothing runs that could be followed. */
  follows: boolean | undefined;
  onFollow: () => void;
  isSideOpen: boolean;
  onSide: () => void;
}) {
  const { filter, onFilter, axis, shown, of } = props;
  return (
    <div class="toolbar" role="toolbar" aria-label="Timeline">
      <TextInput
        type="search"
        data-search
        placeholder="Filter calls"
        aria-label="Filter calls by tool, command, path or result"
        value={filter.text}
        onText={(text) => onFilter({ ...filter, text })}
      />
      <Select
        label="Which calls"
        value={filter.status}
        options={Object.entries(STATUS_WORDS)}
        onChoose={(status) => onFilter({ ...filter, status: status as LaneFilter["status"] })}
      />
      <span class="quiet count">
        {shown === of ? "" : `${countText(shown)} of `}
        {countText(of)} calls
      </span>
      <span class="gap" />
      <span class="group" role="group" aria-label="Time">
        <Button
          aria-pressed={axis.mode === "whole"}
          title="The whole session (0)"
          onClick={() => axis.show("whole")}
        >
          Whole
        </Button>
        <Button
          aria-pressed={axis.mode === "seen"}
          title="The visible rows (9)"
          onClick={() => axis.show("seen")}
        >
          In sight
        </Button>
        <SignButton sign="+" label="Zoom in" title="Zoom in (+)" onClick={() => axis.zoom(0.5)} />
        <SignButton sign="−" label="Zoom out" title="Zoom out (-)" onClick={() => axis.zoom(2)} />
      </span>
      {props.follows !== undefined && (
        <Button aria-pressed={props.follows} title="Stay at the end (e)" onClick={props.onFollow}>
          Follow
        </Button>
      )}
      {!props.isSideOpen && (
        <Button title="Conversation (c)" onClick={props.onSide}>
          Conversation
        </Button>
      )}
    </div>
  );
}
