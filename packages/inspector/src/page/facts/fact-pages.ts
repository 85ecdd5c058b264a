// Pages of a long list of facts: which are needed for the rows in sight, which are there, which are being asked for.
// Those that nobody looks at any more are given up, so a fast jump asks for where it ends and for nothing between.

import type { FactRow, FactRows } from "../../wire/index.ts";
import type { RowWindow } from "../parts/row-window.ts";

export const PAGE_SIZE = 200;
const MOST_PAGES = 60;

export interface FactPages {
  row: (index: number) => FactRow | undefined;
  /** These are in sight now. */
  need(seen: RowWindow): void;
  /** There are more of them by now: the last page is another one. */
  grew(): void;
  stop(): void;
}

export interface FactPagesOptions {
  ask(offset: number, limit: number, signal: AbortSignal): Promise<FactRows>;
  onRows(total: number): void;
  onProblem(message: string): void;
}

export function createFactPages(options: FactPagesOptions): FactPages {
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
        options.onProblem(error instanceof Error ? error.message : String(error));
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
    row: (index) => pages.get(Math.floor(index / PAGE_SIZE))?.[index % PAGE_SIZE],
    need(seen) {
      needed = pagesOf(seen);
      look();
    },
    grew() {
      for (const [page, rows] of pages) if (rows.length < PAGE_SIZE) old.add(page);
      look();
    },
    stop() {
      needed = [];
      look();
    },
  };
}

function pagesOf({ first, end }: RowWindow): readonly number[] {
  const pages: number[] = [];
  const last = Math.floor(Math.max(first, end - 1) / PAGE_SIZE);
  for (let page = Math.floor(first / PAGE_SIZE); page <= last; page += 1) pages.push(page);
  return pages;
}
