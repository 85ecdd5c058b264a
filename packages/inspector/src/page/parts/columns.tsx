// Columns that can be made wider and narrower: with the mouse, a finger or the arrow keys. Their widths are custom
// properties of the document, so that moving one draws nothing anew; this browser keeps them.

import { keep, readKept } from "../state/kept.ts";
import { createStore, type Store, useStore } from "../state/store.ts";

interface Limits {
  /** What it is the width of, for those who listen. */
  readonly label: string;
  readonly unit: "px" | "%";
  readonly least: number;
  readonly most: number;
  readonly usual: number;
  /** The side of what it is in from which it is measured. */
  readonly from: "left" | "right";
}

interface Column extends Limits {
  readonly name: string;
  readonly width: Store<number>;
}

/** `name`: `--column-NAME` in the style sheets. */
function createColumn(name: string, limits: Limits): Column {
  const known = Number(readKept(`column-${name}`) ?? Number.NaN);
  const column = { ...limits, name, width: createStore(limits.usual) };
  column.width.subscribe(() => {
    const text = `${column.width.get()}${column.unit}`;
    document.documentElement.style.setProperty(`--column-${name}`, text);
  });
  if (Number.isFinite(known)) column.width.set(within(limits, known));
  return column;
}

function within({ least, most }: Limits, width: number): number {
  return Math.round(10 * Math.min(most, Math.max(least, width))) / 10;
}

let columns: ReturnType<typeof createColumns> | undefined;

function createColumns() {
  return {
    sessions: createColumn("sessions", {
      label: "Width of the sessions",
      unit: "px",
      least: 150,
      most: 520,
      usual: 236,
      from: "left",
    }),
    side: createColumn("side", {
      label: "Width of the details",
      unit: "%",
      least: 22,
      most: 75,
      usual: 38,
      from: "right",
    }),
    names: createColumn("names", {
      label: "Width of the names",
      unit: "%",
      least: 15,
      most: 75,
      usual: 44,
      from: "left",
    }),
  };
}

/** Between two columns; `name` is the one that it makes wider. */
export function Separator({ name }: { name: keyof ReturnType<typeof createColumns> }) {
  columns ??= createColumns();
  const column = columns[name];
  const width = useStore(column.width);
  const settle = (next: number) => {
    column.width.set(within(column, next));
    keep(`column-${name}`, String(column.width.get()));
  };
  const step = column.unit === "px" ? 16 : 2;
  const wider = column.from === "left" ? step : -step;
  const byKey = {
    ArrowRight: width + wider,
    ArrowLeft: width - wider,
    Home: column.least,
    End: column.most,
  };
  return (
    <div
      class="separator"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={column.label}
      aria-valuenow={Math.round(width)}
      aria-valuemin={column.least}
      aria-valuemax={column.most}
      title={`${column.label}: drag it, or use the arrow keys; a double click resets it`}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
        const next = measure(event, column);
        if (next !== undefined) column.width.set(within(column, next));
      }}
      onLostPointerCapture={() => settle(column.width.get())}
      onDblClick={() => settle(column.usual)}
      onClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => {
        const next = byKey[event.key as keyof typeof byKey];
        if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        settle(next);
      }}
    />
  );
}

/** How wide the column is with its edge under the pointer. */
function measure(
  { currentTarget, clientX }: PointerEvent & { currentTarget: HTMLElement },
  { from, unit }: Limits,
): number | undefined {
  const around = currentTarget.closest("[data-columns]")?.getBoundingClientRect();
  if (around === undefined || around.width === 0) return undefined;
  const px = from === "left" ? clientX - around.left : around.right - clientX;
  return unit === "px" ? px : (100 * px) / around.width;
}
