// The rows of a session over its time. Only the visible rows are drawn.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useKeys } from "../app/keys.ts";
import { Separator } from "../parts/columns.tsx";
import { usePhone } from "../parts/phone.ts";
import { useNow } from "../parts/time.ts";
import { type RowWindow, VirtualList } from "../parts/virtual-list.tsx";
import type { SessionModel } from "../state/session-model.ts";
import { type Extent, placeTime, placeTicks, useAxis, useTimeWheel } from "./axis.ts";
import { type Row, listRows, wayTo } from "./rows.ts";
import { Legend } from "./spans.tsx";
import { rowLabel, useDrawnRows } from "./timeline-row.tsx";
import { createLaneFilter, type LaneFilter, TimelineTools } from "./timeline-tools.tsx";

const ROW_HEIGHT = { desk: 24, phone: 44 } as const;

export function TimelineChart(props: {
  model: SessionModel;
  /** The key of the row that was chosen. */
  chosen: string | undefined;
  onChoose: (row: Row) => void;
  isSideOpen: boolean;
  onSide: () => void;
}) {
  const { model, chosen } = props;
  const isLive = model.session?.live !== undefined;
  const goesOn = isLive && [...model.runs.values()].some(({ status }) => status === "running");
  const now = useNow(goesOn, Date.parse(model.session?.updated_at ?? "") || Date.now());
  const [filter, setFilter] = useState<LaneFilter>({ text: "", status: "any" });
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [seen, setSeen] = useState<RowWindow>({ first: 0, end: 40 });
  const [activeKey, setActiveKey] = useState<string>();
  const [follows, setFollows] = useState(true);
  const [request, setRequest] = useState<{ key: string; request: number }>();
  const keep = useMemo(() => createLaneFilter(filter, isLive), [filter, isLive]);
  const rows = useMemo(
    () => listRows(model, { closed, keep }),
    // Without a filter only new and moved ones make other rows.
    [model.session_id, model.shape, closed, keep, keep === undefined ? 0 : model.content],
  );
  const places = useMemo(() => new Map(rows.map(({ key }, index) => [key, index])), [rows]);
  const shownLanes = useMemo(() => rows.filter(({ kind }) => kind === "lane").length, [rows]);
  const axis = useAxis(model, rows, seen, now);
  const chart = useRef<HTMLDivElement>(null);
  useTimeWheel(chart, axis);

  function reveal(key: string): void {
    const way = wayTo(model, key);
    if (way.some((key) => closed.has(key))) {
      setClosed(new Set([...closed].filter((key) => !way.includes(key))));
    }
    setActiveKey(key);
    setFollows(false);
    setRequest((before) => ({ key, request: (before?.request ?? 0) + 1 }));
  }
  // A deep link may come before its row does.
  const isChosenThere =
    chosen !== undefined &&
    [model.lanes, model.runs, model.requests].some((rows) => rows.has(chosen));
  useEffect(() => {
    if (isChosenThere && chosen !== activeKey) reveal(chosen);
  }, [chosen, isChosenThere]);

  // While a session is read, rows come before those that are there: what was shown is shown again when all are there.
  const wasRead = useRef(false);
  wasRead.current ||= !model.is_loading;
  useEffect(() => {
    if (!wasRead.current) return;
    setRequest((before) => before && { key: before.key, request: before.request + 1 });
  }, [wasRead.current]);

  function toggle({ key, is_open }: Row, to: boolean | undefined): void {
    if (is_open === undefined || is_open === to) return;
    setClosed(new Set(is_open ? [...closed, key] : [...closed].filter((shut) => shut !== key)));
  }

  function nextWaiting(): void {
    const from = places.get(activeKey ?? "") ?? -1;
    const waits = (row: Row) => isLive && model.lanes.get(row.key)?.state === "waiting";
    const next = rows.find((row, index) => index > from && waits(row)) ?? rows.find(waits);
    if (next === undefined) return;
    reveal(next.key);
    document.getElementById("timeline")?.focus();
  }

  useKeys({
    "+": () => axis.zoom(0.5),
    "=": () => axis.zoom(0.5),
    "-": () => axis.zoom(2),
    "[": () => axis.move(-0.25),
    "]": () => axis.move(0.25),
    "0": () => axis.show("whole"),
    "9": () => axis.show("seen"),
    n: nextWaiting,
    e: () => setFollows(true),
  });

  const origin = useMemo(
    () => Math.min(...[...model.runs.values()].map(({ started_at }) => started_at)),
    [model.session_id, model.runs.size],
  );
  const drawn = useMemo(() => ({ extent: axis.extent, now, isLive }), [axis.extent, now, isLive]);
  const drawnRow = useDrawnRows(model, drawn);
  const shown = request && places.get(request.key);
  return (
    <div class="chart" ref={chart}>
      <TimelineTools
        filter={filter}
        onFilter={setFilter}
        shown={shownLanes}
        of={model.lanes.size}
        axis={axis}
        follows={goesOn ? follows : undefined}
        onFollow={() => setFollows(!follows)}
        isSideOpen={props.isSideOpen}
        onSide={props.onSide}
      />
      <VirtualList
        id="timeline"
        label="Runs and calls"
        role="treegrid"
        count={rows.length}
        row_height={ROW_HEIGHT[usePhone() ? "phone" : "desk"]}
        active={activeKey === undefined ? undefined : places.get(activeKey)}
        onActive={(index) => setActiveKey(rows[index]?.key)}
        onOpen={(index) => rows[index] && props.onChoose(rows[index])}
        onToggle={(index, to) => rows[index] && toggle(rows[index], to)}
        onSeen={setSeen}
        onScrolled={setFollows}
        is_at_end={goesOn && follows}
        show={shown === undefined ? undefined : { index: shown, request: request?.request ?? 0 }}
        header={
          <TimelineHead extent={axis.extent} origin={origin} now={goesOn ? now : undefined} />
        }
        row={(index, isHurried) => {
          const row = rows[index];
          if (row === undefined) return { children: null };
          return {
            class: row.kind,
            label: rowLabel(model, row),
            level: row.depth + 1,
            is_open: row.is_open,
            is_selected: row.key === chosen,
            children: drawnRow(row, isHurried),
          };
        }}
      />
      <div class="timeline-foot">
        <Legend />
      </div>
      {rows.length === 0 && <p class="quiet empty">{emptyWords(model, keep !== undefined)}</p>}
    </div>
  );
}

function emptyWords(model: SessionModel, isFiltered: boolean): string {
  if (isFiltered) return "No call matches.";
  return model.is_loading ? "Loading the timeline…" : "This session has no run yet.";
}

const MOST_TICKS = 4;

/** Above the rows: the marks of the time, and what the columns are. */
function TimelineHead(props: { extent: Extent; origin: number; now: number | undefined }) {
  const { extent, origin, now = Number.NaN } = props;
  const nowAt = placeTime(extent, now);
  return (
    <div class="timeline-head" role="row" data-columns>
      <span role="columnheader" class="names-head">
        Run and call
        <Separator name="names" />
      </span>
      <span role="columnheader" class="ticks" aria-label="Time since the session began">
        {placeTicks(extent, origin, MOST_TICKS).map(({ time, label }, index) => (
          <span key={index} class="tick" style={{ left: `${placeTime(extent, time)}%` }}>
            {label}
          </span>
        ))}
      </span>
      {nowAt >= 0 && nowAt <= 100 && (
        <span class="now-place" aria-hidden="true">
          <span class="now" style={{ left: `${nowAt}%` }} />
        </span>
      )}
      <span role="columnheader" class="duration">
        Took
      </span>
      <span role="columnheader">Outcome</span>
    </div>
  );
}
