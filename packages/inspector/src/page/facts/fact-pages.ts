// Pages of a long list of facts: which are needed for the rows in sight, which are there, which are being asked for.
// Those that no one looks at any more are given up, so a fast jump asks for where it ends and for nothing between.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FactRow, FactRows } from "../../wire/session-records.ts";
import { errorText } from "../api/client.ts";
import { useInspector } from "../app/inspector.ts";
import type { RowWindow } from "../parts/virtual-list.tsx";
import { useStore } from "../state/store.ts";

export const PAGE_SIZE = 200;
const MOST_PAGES = 60;

interface FactPagesOptions {
  ask(offset: number, limit: number, signal: AbortSignal): Promise<FactRows>;
  onRows(total: number): void;
  onProblem(message: string): void;
}

export function createFactPages(options: FactPagesOptions) {
  const pages = new Map<number, readonly FactRow[]>();
  const asking = new Map<number, AbortController>();
  /** What is there and may be more by now. */
  const old = new Set<number>();
  let needed: readonly number[] = [];

  function request(page: number): void {
    const abort = new AbortController();
    asking.set(page, abort);
    options.ask(page * PAGE_SIZE, PAGE_SIZE, abort.signal).then(
      ({ rows, total }) => {
        if (asking.get(page) !== abort) return;
        asking.delete(page);
        old.delete(page);
        pages.delete(page);
        pages.set(page, rows);
        forget();
        options.onRows(total);
      },
      (error: unknown) => {
        if (asking.get(page) !== abort) return;
        asking.delete(page);
        options.onProblem(errorText(error));
      },
    );
  }

  /** The longest unused go first. */
  function forget(): void {
    for (const page of pages.keys()) {
      if (pages.size <= MOST_PAGES) return;
      if (!needed.includes(page)) pages.delete(page);
    }
  }

  function look(): void {
    for (const [page, abort] of asking) {
      if (needed.includes(page)) continue;
      asking.delete(page);
      abort.abort();
    }
    for (const page of needed) {
      if ((!pages.has(page) || old.has(page)) && !asking.has(page)) request(page);
    }
  }

  return {
    row: (index: number) => pages.get(Math.floor(index / PAGE_SIZE))?.[index % PAGE_SIZE],
    /** These are in sight now. */
    need({ first, end }: RowWindow): void {
      const from = Math.floor(first / PAGE_SIZE);
      const last = Math.floor(Math.max(first, end - 1) / PAGE_SIZE);
      needed = Array.from({ length: last - from + 1 }, (_, index) => from + index);
      look();
    },
    /** There are more of them by now: the last page is another one. */
    grew(): void {
      for (const [page, rows] of pages) if (rows.length < PAGE_SIZE) old.add(page);
      look();
    },
    stop(): void {
      needed = [];
      look();
    },
  };
}

/** While someone drags the bar, only where they rest for so long is asked for. */
const REST_MS = 60;

/** Rows by their place, requested when they come into sight. `version` counts up when there are more. */
export function useFactPages(session_id: string, run_id: string | undefined, version: number) {
  const { api, connection } = useInspector();
  const isConnected = useStore(connection, ({ state }) => state === "connected");
  const [, setDrawn] = useState(0);
  const [total, setTotal] = useState(0);
  const [problem, setProblem] = useState<string>();
  const seen = useRef<RowWindow>({ first: 0, end: 60 });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const pages = useMemo(
    () =>
      createFactPages({
        ask: (offset, limit, signal) =>
          api.ask("GET /api/sessions/:session_id/facts", {
            path: { session_id },
            query: { offset: String(offset), limit: String(limit), run_id },
            signal,
          }),
        onRows(total) {
          setTotal(total);
          setProblem(undefined);
          setDrawn((count) => count + 1);
        },
        onProblem: setProblem,
      }),
    [session_id, run_id],
  );
  useEffect(() => {
    pages.need(seen.current);
    return () => {
      clearTimeout(timer.current);
      pages.stop();
    };
  }, [pages]);
  useEffect(() => pages.grew(), [pages, version]);
  useEffect(() => {
    if (isConnected) pages.need(seen.current);
  }, [pages, isConnected]);

  return {
    total,
    row: pages.row,
    problem,
    onSeen: (next: RowWindow): void => {
      seen.current = next;
      clearTimeout(timer.current);
      timer.current = setTimeout(() => pages.need(next), REST_MS);
    },
  };
}
