// The rows of a session over its time. Only the visible rows is drawn.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useKeys } from "../app/use-keys.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import type { RowWindow } from "../parts/row-window.ts";
import type { SessionModel } from "../state/session-model.ts";
import { Legend } from "./spans.tsx";
import { keepOf, NO_FILTER } from "./lane-filter.ts";
import { type Row, rowsOf, wayTo } from "./rows.ts";
import { TimelineHead } from "./timeline-head.tsx";
import { laneLabel, runLabel, useDrawnRows } from "./timeline-row.tsx";
import { TimelineTools } from "./timeline-tools.tsx";
import { useAxis, useTimeWheel } from "./use-axis.ts";
import { useNow } from "../parts/use-time.ts";

const ROW_HEIGHT = 24;

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
  const [filter, setFilter] = useState(NO_FILTER);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [seen, setSeen] = useState<RowWindow>({ first: 0, end: 40 });
  const [activeKey, setActiveKey] = useState<string>();
  const [follows, setFollows] = useState(true);
  const [request, setRequest] = useState<{ key: string; request: number }>();
  const keep = useMemo(() => keepOf(filter, isLive), [filter, isLive]);
  const rows = useMemo(
    () => rowsOf(model, { closed, keep }),
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
  const isChosenThere = chosen !== undefined && (model.lanes.has(chosen) || model.runs.has(chosen));
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

  function toggle(row: Row, to: boolean | undefined): void {
    if (row.is_open === undefined || row.is_open === to) return;
    const next = new Set(closed);
    if (row.is_open) next.add(row.key);
    else next.delete(row.key);
    setClosed(next);
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
  const shown = request === undefined ? undefined : places.get(request.key);
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
        row_height={ROW_HEIGHT}
        active={activeKey === undefined ? undefined : places.get(activeKey)}
        onActive={(index) => setActiveKey(rows[index]?.key)}
        onOpen={(index) => rows[index] !== undefined && props.onChoose(rows[index])}
        onToggle={(index, to) => rows[index] !== undefined && toggle(rows[index], to)}
        onSeen={setSeen}
        onScrolled={setFollows}
        is_at_end={goesOn && follows}
        {...(shown === undefined || request === undefined
          ? {}
          : { show: { index: shown, request: request.request } })}
        header={
          <TimelineHead extent={axis.extent} origin={origin} now={goesOn ? now : undefined} />
        }
        row={(index, isHurried) => {
          const row = rows[index];
          if (row === undefined) return { children: null };
          const lane = row.kind === "lane" ? model.lanes.get(row.key) : undefined;
          const run = row.kind === "run" ? model.runs.get(row.key) : undefined;
          return {
            class: row.kind,
            ...(lane === undefined ? {} : { label: laneLabel(lane, isLive) }),
            ...(run === undefined ? {} : { label: runLabel(run, isLive) }),
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
