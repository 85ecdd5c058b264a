// The line above a timeline: which calls, which part of the time, whether it follows.

import type { LaneFilter, LaneStatus } from "./lane-filter.ts";
import { LANE_STATUSES } from "./lane-filter.ts";
import type { Axis } from "./use-axis.ts";

const STATUS_WORDS: Readonly<Record<LaneStatus, string>> = {
  any: "All calls",
  waiting: "Waiting for a person",
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
  /** Undefined: nothing goes on that could be followed. */
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
        {props.shown === props.of
          ? `${props.of.toLocaleString("en")} calls`
          : `${props.shown.toLocaleString("en")} of ${props.of.toLocaleString("en")} calls`}
      </span>
      <span class="gap" />
      <span class="group" role="group" aria-label="Time">
        <Toggle
          is={axis.mode === "whole"}
          title="The whole session (0)"
          act={() => axis.show("whole")}
        >
          Whole
        </Toggle>
        <Toggle
          is={axis.mode === "seen"}
          title="What is in sight (9)"
          act={() => axis.show("seen")}
        >
          In sight
        </Toggle>
        <button type="button" class="button" title="Closer (+)" onClick={() => axis.zoom(0.5)}>
          <span aria-hidden="true">+</span>
          <span class="unseen">Closer</span>
        </button>
        <button type="button" class="button" title="Further away (-)" onClick={() => axis.zoom(2)}>
          <span aria-hidden="true">−</span>
          <span class="unseen">Further away</span>
        </button>
      </span>
      {props.follows !== undefined && (
        <Toggle is={props.follows} title="Stay at the end (e)" act={props.onFollow}>
          Follow
        </Toggle>
      )}
      {!props.isSideOpen && (
        <button type="button" class="button" title="Conversation (c)" onClick={props.onSide}>
          Conversation
        </button>
      )}
    </div>
  );
}

function Toggle(props: { is: boolean; title: string; act: () => void; children: string }) {
  return (
    <button
      type="button"
      class="button"
      aria-pressed={props.is}
      title={props.title}
      onClick={props.act}
    >
      {props.children}
    </button>
  );
}
