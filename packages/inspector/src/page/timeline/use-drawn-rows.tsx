// The cells of rows that were drawn before and are as they were: the same ones again, so nobody compares them.

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { Lane, RunRow } from "../../wire/index.ts";
import type { SessionModel } from "../state/session-model.ts";
import type { Row } from "./rows.ts";
import { LaneCells, RunCells } from "./timeline-row.tsx";
import type { Drawn } from "./timeline-row.tsx";

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
