// The facts of a session or a run as a hook: rows by their place, asked for when they come into sight.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FactRow } from "../../wire/index.ts";
import { useInspector } from "../app/context.ts";
import type { RowWindow } from "../parts/row-window.ts";
import { useStore } from "../state/use-store.ts";
import { createFactPages } from "./fact-pages.ts";

export interface ShownFacts {
  /** How many there are. */
  total: number;
  row: (index: number) => FactRow | undefined;
  onSeen: (seen: RowWindow) => void;
  problem: string | undefined;
}

/** While somebody drags the bar, only where they rest for so long is asked for. */
const REST_MS = 60;

export function useFactPages(
  session_id: string,
  run_id: string | undefined,
  /** Counts up when there are more. */
  version: number,
): ShownFacts {
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
            query: {
              offset: String(offset),
              limit: String(limit),
              run_id,
            },
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
    onSeen(next) {
      seen.current = next;
      clearTimeout(timer.current);
      timer.current = setTimeout(() => pages.need(next), REST_MS);
    },
  };
}
