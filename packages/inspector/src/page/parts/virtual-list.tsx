// A list of which only the rows that can be seen are in the document. The list itself has the focus and says which row is
// the active one, so a row may go and come without anyone losing their place.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface VirtualListProps {
  id: string;
  label: string;
  role: "treegrid" | "grid";
  count: number;
  row_height: number;
  /** The row the keys are at. */
  active: number | undefined;
  onActive(index: number): void;
  /** Enter, or a click. */
  onOpen(index: number): void;
  /** Left and right, or a click on what has `data-toggle`. */
  onToggle?(index: number, to: boolean | undefined): void;
  /** Which rows are seen now. */
  onSeen?(seen: RowWindow): void;
  /** The user scrolled: true when they are at the end. */
  onScrolled?(isAtEnd: boolean): void;
  /** A change of it brings that row into sight. */
  show?: { index: number; request: number };
  /** Stays at the end while rows are added. */
  is_at_end?: boolean;
  header?: ComponentChildren;
  /** `isHurried`: it is gone in a moment, so only what is quick to draw. */
  row(index: number, isHurried: boolean): RowParts;
}

export interface RowParts {
  /** What it is called by those who do not see it. */
  label?: string;
  class?: string;
  level?: number;
  is_open?: boolean | undefined;
  is_selected?: boolean;
  children: ComponentChildren;
}

const AROUND = 4;

export function VirtualList(props: VirtualListProps) {
  const { count, row_height } = props;
  const box = useRef<HTMLDivElement>(null);
  const [window, setWindow] = useState<RowWindow>({ first: 0, end: Math.min(count, 60) });
  const seen = useRef<RowWindow>({ first: 0, end: 0 });
  const places = useRef(1);
  const latest = useRef(props);
  latest.current = props;
  const hurry = useHurry(() => look());

  function look(isHurried = false): void {
    const scrolled = measureScroll(box.current, latest.current);
    if (scrolled === undefined) return;
    const next = findWindow(scrolled, AROUND);
    setWindow((now) => (now.first === next.first && now.end === next.end ? now : next));
    const nextSeen = findSeenRows(scrolled);
    if (isHurried) return;
    if (nextSeen.first === seen.current.first && nextSeen.end === seen.current.end) return;
    seen.current = nextSeen;
    latest.current.onSeen?.(nextSeen);
  }

  function bringIntoSight(index: number): void {
    const scrolled = measureScroll(box.current, latest.current);
    const top = scrolled && topToShow(index, scrolled);
    if (top !== undefined && box.current !== null) box.current.scrollTop = top;
    look();
  }

  useLayoutEffect(() => look(), [count, row_height]);
  useEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(() => look());
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (props.show !== undefined) bringIntoSight(props.show.index);
  }, [props.show?.request]);
  useLayoutEffect(() => {
    if (props.is_at_end === true && count > 0) bringIntoSight(count - 1);
  }, [props.is_at_end, count]);

  const at = (index: number) => {
    const next = Math.min(count - 1, Math.max(0, index));
    props.onActive(next);
    bringIntoSight(next);
  };

  const rows: JSX.Element[] = [];
  const end = Math.min(window.end, count);
  // A place in the document is used again for another row: nothing is made or thrown away while scrolling.
  places.current = Math.max(places.current, end - window.first);
  for (let index = Math.min(window.first, end); index < end; index += 1) {
    const row = props.row(index, hurry.is);
    rows.push(
      <div
        key={index % places.current}
        id={`${props.id}-${index}`}
        data-index={index}
        role="row"
        aria-rowindex={index + 1}
        aria-label={row.label}
        aria-level={row.level}
        aria-expanded={row.is_open}
        aria-selected={row.is_selected === true}
        class={`row ${row.class ?? ""} ${index === props.active ? "active" : ""} ${row.is_selected ? "selected" : ""}`}
        style={{ transform: `translateY(${index * row_height}px)`, height: `${row_height}px` }}
      >
        {row.children}
      </div>,
    );
  }
  const { active = -1 } = props;
  return (
    <div
      ref={box}
      id={props.id}
      class="virtual"
      role={props.role}
      aria-label={props.label}
      aria-rowcount={count}
      aria-activedescendant={
        active >= window.first && active < end ? `${props.id}-${active}` : undefined
      }
      tabIndex={0}
      onScroll={({ currentTarget }) => {
        look(hurry.scrolled(currentTarget.scrollTop, currentTarget.clientHeight));
        props.onScrolled?.(isAtEnd(box.current));
      }}
      onKeyDown={(event) => onKey(event, props, at, seen.current)}
      onClick={(event) => onClick(event, props)}
    >
      {props.header}
      <div class="rows" role="rowgroup" style={{ height: `${count * row_height}px` }}>
        {rows}
      </div>
    </div>
  );
}

function onKey(
  event: KeyboardEvent,
  props: VirtualListProps,
  at: (index: number) => void,
  seen: RowWindow,
): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget)
    return;
  const active = props.active ?? -1;
  const page = Math.max(1, seen.end - seen.first - 2);
  // Without an active row the keys begin with the visible rows.
  const next = () => at(active < 0 ? seen.first : active + 1);
  const previous = () => at(active < 0 ? seen.end - 1 : active - 1);
  const act: Record<string, () => void> = {
    ArrowDown: next,
    j: next,
    ArrowUp: previous,
    k: previous,
    PageDown: () => at(active + page),
    PageUp: () => at(active - page),
    Home: () => at(0),
    End: () => at(props.count - 1),
    Enter: () => active >= 0 && props.onOpen(active),
    " ": () => active >= 0 && props.onToggle?.(active, undefined),
    ArrowRight: () => active >= 0 && props.onToggle?.(active, true),
    ArrowLeft: () => active >= 0 && props.onToggle?.(active, false),
  };
  const action = act[event.key];
  if (action === undefined || props.count === 0) return;
  event.preventDefault();
  event.stopPropagation();
  action();
}

function onClick(event: MouseEvent, props: VirtualListProps): void {
  if (!(event.target instanceof Element)) return;
  const index = Number(event.target.closest("[data-index]")?.getAttribute("data-index") ?? -1);
  if (index < 0 || index >= props.count) return;
  props.onActive(index);
  if (event.target.closest("[data-toggle]") === null) props.onOpen(index);
  else props.onToggle?.(index, undefined);
}

function measureScroll(box: HTMLElement | null, props: VirtualListProps): Scrolled | undefined {
  if (box === null) return undefined;
  // The header stays visible above the rows and covers them.
  const header = box.firstElementChild;
  const isHeader = props.header !== undefined && header instanceof HTMLElement;
  const above = isHeader ? header.offsetHeight : 0;
  return {
    top: box.scrollTop,
    height: box.clientHeight - above,
    row_height: props.row_height,
    count: props.count,
  };
}

function isAtEnd(box: HTMLElement | null): boolean {
  return box !== null && box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
}

export interface RowWindow {
  first: number;
  /** Not in it any more. */
  end: number;
}

interface Scrolled {
  top: number;
  height: number;
  row_height: number;
  count: number;
}

export function findWindow(scrolled: Scrolled, around: number): RowWindow {
  const { first, end } = findSeenRows(scrolled);
  return { first: Math.max(0, first - around), end: Math.min(scrolled.count, end + around) };
}

/** Those of which at least a part can be seen. */
export function findSeenRows({ top, height, row_height, count }: Scrolled): RowWindow {
  const first = Math.floor(Math.max(0, top) / row_height);
  const end = Math.ceil((Math.max(0, top) + height) / row_height);
  return { first: Math.min(first, Math.max(0, count - 1)), end: Math.min(count, end) };
}

/** Where to scroll to so that the whole row is seen; undefined when it is. */
export function topToShow(
  index: number,
  { top, height, row_height }: Scrolled,
): number | undefined {
  const from = index * row_height;
  if (from < top) return from;
  if (from + row_height > top + height) return from + row_height - height;
  return undefined;
}

const REST_MS = 100;

/**
 * Whether someone rushes through a long list: more than a screen between two pictures. Then rows show only what is quick
 * to draw, and the rest comes when they slow down.
 */
function useHurry(onRest: () => void) {
  const [is, setIs] = useState(false);
  const before = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const rest = useRef(onRest);
  rest.current = onRest;
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    is,
    /** Called after each scroll. True: it is one. */
    scrolled(top: number, height: number): boolean {
      const far = Math.abs(top - before.current) > height * 0.75;
      before.current = top;
      if (!far) return timer.current !== undefined;
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        timer.current = undefined;
        setIs(false);
        rest.current();
      }, REST_MS);
      setIs(true);
      return true;
    },
  };
}
