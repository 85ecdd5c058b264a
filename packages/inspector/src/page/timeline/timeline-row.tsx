// One row of a timeline: a run, or a call with its bars.

import { visibleLine } from "@soong/core";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { RequestRow } from "../../wire/request-records.ts";
import type { Lane, RunRow } from "../../wire/session-records.ts";
import { laneSign, Mark, runSign } from "../parts/signs.tsx";
import { countText } from "../parts/text.tsx";
import { durationText } from "../parts/time.ts";
import { runName } from "../sessions/run-picker.tsx";
import type { SessionModel } from "../state/session-model.ts";
import { type Extent, placeTime } from "./axis.ts";
import {
  placeRequestBars,
  requestBarsText,
  requestName,
  requestSign,
  requestSummary,
} from "./request-cells.tsx";
import type { Row } from "./rows.ts";
import { placeBars, measureLane, spansText } from "./spans.tsx";

/** How rows are drawn now; the same as long as it is drawn alike. */
interface Drawn {
  extent: Extent;
  now: number;
  isLive: boolean;
}

interface CellsProps<Subject> {
  row: Row;
  subject: Subject;
  drawn: Drawn;
  isHurried: boolean;
}

/** More of a line than this has no room on any screen, and takes its time to be laid out. */
const MOST_SEEN = 160;
/** Deeper ones are not moved further in: their names would have no room. */
const DEEPEST = 10;

function LaneCells(props: CellsProps<Lane> & { own: string | undefined }) {
  const { row, subject: lane, drawn, isHurried, own } = props;
  const { extent, now, isLive } = drawn;
  const bars = isHurried ? [] : placeBars(lane.spans, extent, now);
  return (
    <>
      <Name
        row={row}
        text={own ?? shortName(lane.tool_name)}
        full={lane.tool_name}
        about={own === undefined && !isHurried ? lane.about : undefined}
        more={isHurried ? "" : lane.summary}
      />
      <span class="bars" role="gridcell" aria-label={isHurried ? undefined : spansText(lane, now)}>
        {bars.map(({ kind, left, width }, index) => (
          <span
            key={index}
            class={`bar ${kind}`}
            style={{ left: `${left}%`, width: `${width}%` }}
          />
        ))}
      </span>
      <span class="duration" role="gridcell">
        {!isHurried && durationText(measureLane(lane, now))}
      </span>
      <Mark sign={laneSign(lane, isLive)} role="gridcell" />
    </>
  );
}

function RunCells({ row, subject: run, drawn }: CellsProps<RunRow>) {
  const { extent, now, isLive } = drawn;
  const end = run.ended_at ?? now;
  const left = Math.max(0, Math.min(100, placeTime(extent, run.started_at)));
  const right = Math.max(left, Math.min(100, placeTime(extent, end)));
  const calls = `${countText(run.calls)} ${run.calls === 1 ? "call" : "calls"}`;
  const more = run.reason === undefined ? calls : `${calls} · ${run.reason}`;
  return (
    <>
      <Name row={row} text={runName(run)} more={more} />
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

/** Tools of our own are known without their namespace. */
function shortName(tool_name: string): string {
  return tool_name.replace(/^(?:code|agent|internal)\./, "");
}

function Name(props: {
  row: Row;
  text: string;
  full?: string;
  about?: string | undefined;
  more?: string | undefined;
}) {
  const { row, text, full = text, about = "", more = "" } = props;
  const { is_open, depth } = row;
  const said = more.slice(0, MOST_SEEN);
  return (
    <span
      class="name"
      role="gridcell"
      title={visibleLine([full, about, said].filter((part) => part !== "").join("  "))}
      style={{ paddingLeft: `${8 + 14 * Math.min(DEEPEST, depth)}px` }}
    >
      <span class="twisty" aria-hidden="true" data-toggle={is_open === undefined ? undefined : ""}>
        {is_open === undefined ? "" : is_open ? "▾" : "▸"}
      </span>
      <span class="tool">{visibleLine(text)}</span>
      {about !== "" && <span class="about-call">{visibleLine(about)}</span>}
      <span class="summary">{visibleLine(said)}</span>
    </span>
  );
}

function RequestCells({ row, subject: request, drawn, isHurried }: CellsProps<RequestRow>) {
  const { extent, now, isLive } = drawn;
  const bars = isHurried ? [] : placeRequestBars(request, extent, now);
  const until = request.ended_at ?? now;
  return (
    <>
      <Name row={row} text={requestName(request)} more={isHurried ? "" : requestSummary(request)} />
      <span class="bars" role="gridcell" aria-label={requestBarsText(request, now)}>
        {bars.map(({ kind, left, width }) => (
          <span key={kind} class={`bar ${kind}`} style={{ left: `${left}%`, width: `${width}%` }} />
        ))}
      </span>
      <span class="duration" role="gridcell">
        {!isHurried && durationText(Math.max(0, until - request.started_at))}
      </span>
      <Mark sign={requestSign(request, isLive)} role="gridcell" />
    </>
  );
}

type Subject = Lane | RunRow | RequestRow;

function findSubject(model: SessionModel, { kind, key }: Row): Subject | undefined {
  if (kind === "request") return model.requests.get(key);
  return kind === "lane" ? model.lanes.get(key) : model.runs.get(key);
}

/** What the user attached or typed, of a call that is theirs. */
function ownName({ runs }: SessionModel, { run_id }: Lane): string | undefined {
  const run = runs.get(run_id);
  return run?.own_call === undefined ? undefined : run.title;
}

/** The accessible name of a row: the tool or the run, its state, and what the call is for. */
export function rowLabel(model: SessionModel, row: Row): string | undefined {
  const subject = findSubject(model, row);
  const isLive = model.session?.live !== undefined;
  if (subject === undefined) return undefined;
  if ("attempts" in subject) {
    return `${requestName(subject)}, ${requestSign(subject, isLive).word}`;
  }
  return "tool_call_id" in subject
    ? [subject.tool_name, laneSign(subject, isLive).word, ownName(model, subject) ?? subject.about]
        .flatMap((part) => (part === undefined ? [] : [visibleLine(part)]))
        .join(", ")
    : `Run ${runName(subject)}, ${runSign(subject, isLive).word}`;
}

interface Kept extends CellsProps<Subject | undefined> {
  cells: JSX.Element | null;
}

const MOST_KEPT = 400;

/** Cells of rows that have not changed since they were drawn are reused, so that they are not compared again. */
export function useDrawnRows(
  model: SessionModel,
  drawn: Drawn,
): (row: Row, isHurried: boolean) => JSX.Element | null {
  const kept = useRef(new Map<string, Kept>());
  return (row, isHurried) => {
    const subject = findSubject(model, row);
    const before = kept.current.get(row.key);
    const isSame =
      before?.row === row &&
      before.subject === subject &&
      before.drawn === drawn &&
      before.isHurried === isHurried;
    if (isSame) return before.cells;
    const shared = { row, drawn, isHurried };
    const cells =
      subject === undefined ? null : "attempts" in subject ? (
        <RequestCells {...shared} subject={subject} />
      ) : "tool_call_id" in subject ? (
        <LaneCells {...shared} subject={subject} own={ownName(model, subject)} />
      ) : (
        <RunCells {...shared} subject={subject} />
      );
    if (kept.current.size >= MOST_KEPT) kept.current.clear();
    kept.current.set(row.key, { ...shared, subject, cells });
    return cells;
  };
}
