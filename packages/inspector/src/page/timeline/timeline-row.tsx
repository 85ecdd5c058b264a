// One row of a timeline: a run, or a call with its bars.

import type { Lane, RunRow } from "../../wire/index.ts";
import { durationText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";
import { runName } from "../sessions/run-picker.tsx";
import { type Extent, placeOf } from "./axis.ts";
import { barsOf, durationOf, spansText } from "./spans.tsx";
import { laneSign, Mark, runSign } from "../parts/signs.tsx";
import type { Row } from "./rows.ts";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { SessionModel } from "../state/session-model.ts";

/** How rows are drawn now; the same as long as it is drawn alike. */
export interface Drawn {
  extent: Extent;
  now: number;
  isLive: boolean;
}

interface LaneCellsProps {
  row: Row;
  lane: Lane;
  drawn: Drawn;
  isHurried: boolean;
}

/** More of a line than this has no room on any screen, and takes its time to be laid out. */
const MOST_SEEN = 160;
/** Deeper ones are not moved further in: their names would have no room. */
const DEEPEST = 10;

export function LaneCells({ row, lane, drawn, isHurried }: LaneCellsProps) {
  const { extent, now, isLive } = drawn;
  if (isHurried) {
    return (
      <>
        <Name row={row} text={lane.tool_name} more={undefined} />
        <span class="bars" role="gridcell" />
        <span class="duration" role="gridcell" />
        <Mark sign={laneSign(lane, isLive)} role="gridcell" />
      </>
    );
  }
  return (
    <>
      <Name row={row} text={lane.tool_name} more={lane.summary} />
      <span class="bars" role="gridcell" aria-label={spansText(lane, now)}>
        {barsOf(lane.spans, extent, now).map((bar, index) => (
          <span
            key={index}
            class={`bar ${bar.kind}`}
            style={{ left: `${bar.left}%`, width: `${bar.width}%` }}
          />
        ))}
      </span>
      <span class="duration" role="gridcell">
        {durationText(durationOf(lane, now))}
      </span>
      <Mark sign={laneSign(lane, isLive)} role="gridcell" />
    </>
  );
}

export function RunCells({ row, run, drawn }: { row: Row; run: RunRow; drawn: Drawn }) {
  const { extent, now, isLive } = drawn;
  const end = run.ended_at ?? now;
  const left = Math.max(0, Math.min(100, placeOf(extent, run.started_at)));
  const right = Math.max(left, Math.min(100, placeOf(extent, end)));
  const calls = `${run.calls.toLocaleString("en")} ${run.calls === 1 ? "call" : "calls"}`;
  return (
    <>
      <Name
        row={row}
        text={runName(run)}
        more={run.reason === undefined ? calls : `${calls} · ${run.reason}`}
      />
      <span class="bars" role="gridcell" aria-label={`${run.status} run`}>
        <span class="run-bar" style={{ left: `${left}%`, width: `${right - left}%` }} />
      </span>
      <span class="duration" role="gridcell">
        {durationText(Math.max(0, end - run.started_at))}
      </span>
      <Mark sign={runSign(run, isLive)} role="gridcell" />
    </>
  );
}

function Name(props: { row: Row; text: string; more: string | undefined }) {
  const { row } = props;
  return (
    <span
      class="name"
      role="gridcell"
      title={visibleLine(`${props.text} ${props.more?.slice(0, MOST_SEEN) ?? ""}`)}
      style={{ paddingLeft: `${8 + 14 * Math.min(DEEPEST, row.depth)}px` }}
    >
      <span
        class="twisty"
        aria-hidden="true"
        data-toggle={row.is_open === undefined ? undefined : ""}
      >
        {row.is_open === undefined ? "" : row.is_open ? "▾" : "▸"}
      </span>
      <span class="tool">{visibleLine(props.text)}</span>
      <span class="summary">
        {props.more === undefined ? "" : visibleLine(props.more.slice(0, MOST_SEEN))}
      </span>
    </span>
  );
}

/** The accessible name of a row: the tool and its state. */
export function laneLabel(lane: Lane, isLive: boolean): string {
  return `${visibleLine(lane.tool_name)}, ${laneSign(lane, isLive).word}`;
}

export function runLabel(run: RunRow, isLive: boolean): string {
  return `Run ${runName(run)}, ${runSign(run, isLive).word}`;
}

// Cells of rows that have not changed since they were drawn are reused, so that they are not compared again.

const MOST_KEPT = 400;

export function useDrawnRows(
  model: SessionModel,
  drawn: Drawn,
): (row: Row, isHurried: boolean) => JSX.Element | null {
  const kept = useRef(new Map<string, Kept>());
  return (row, isHurried) => {
    const subject = row.kind === "lane" ? model.lanes.get(row.key) : model.runs.get(row.key);
    const before = kept.current.get(row.key);
    const isSame =
      before !== undefined &&
      before.row === row &&
      before.subject === subject &&
      before.drawn === drawn &&
      before.isHurried === isHurried;
    if (isSame) return before.cells;
    const cells = cellsOf(row, subject, drawn, isHurried);
    if (kept.current.size >= MOST_KEPT) kept.current.clear();
    kept.current.set(row.key, { row, subject, drawn, isHurried, cells });
    return cells;
  };
}

interface Kept {
  row: Row;
  subject: Lane | RunRow | undefined;
  drawn: Drawn;
  isHurried: boolean;
  cells: JSX.Element | null;
}

function cellsOf(
  row: Row,
  subject: Lane | RunRow | undefined,
  drawn: Drawn,
  isHurried: boolean,
): JSX.Element | null {
  if (subject === undefined) return null;
  return "tool_call_id" in subject ? (
    <LaneCells row={row} lane={subject} drawn={drawn} isHurried={isHurried} />
  ) : (
    <RunCells row={row} run={subject} drawn={drawn} />
  );
}
