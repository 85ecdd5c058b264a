// The line above a timeline: which calls, which part of the time, whether it follows.

import { countText } from "../parts/text.tsx";
import { Button, SignButton } from "../parts/button.tsx";
import { LANE_STATUSES, type LaneFilter, type LaneStatus } from "./lane-filter.ts";
import type { Axis } from "./use-axis.ts";

const STATUS_WORDS: Readonly<Record<LaneStatus, string>> = {
  any: "All calls",
  waiting: "Waiting for the user",
  going_on: "Going on",
  left_open: "Left open",
  succeeded: "Succeeded",
  not_succeeded: "Not succeeded",
};

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
  const { filter, onFilter, axis } = props;
  return (
    <div class="toolbar" role="toolbar" aria-label="Timeline">
      <input
        type="search"
        data-search
        placeholder="Filter calls"
        aria-label="Filter calls by tool or summary"
        value={filter.text}
        onInput={(event) => onFilter({ ...filter, text: event.currentTarget.value })}
      />
      <select
        aria-label="Which calls"
        value={filter.status}
        onChange={(event) =>
          onFilter({ ...filter, status: event.currentTarget.value as LaneStatus })
        }
      >
        {LANE_STATUSES.map((status) => (
          <option key={status} value={status}>
            {STATUS_WORDS[status]}
          </option>
        ))}
      </select>
      <span class="quiet count">
        {props.shown === props.of ? "" : `${countText(props.shown)} of `}
        {countText(props.of)} calls
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
