// Where the facts of each call are. A call may report its progress for hours, so that is counted apart: its beginning and
// its end are read whole, its progress as far as it is shown.

import type { Fact } from "@soong/core";

export interface CallFacts {
  take(fact: Fact): void;
  /** In order; `left_out` are those in between that need not be read. */
  seqsOf(call: { readonly tool_call_id: string; readonly run_id: string }): {
    readonly seqs: readonly number[];
    readonly left_out: number;
  };
}

interface Seqs {
  readonly telling: number[];
  readonly progress: number[];
}

const MOST_TELLING = 2000;
const MOST_PROGRESS = 500;

export function createCallFacts(): CallFacts {
  /** By id, then by run: an id is unique within a run. Facts of the session have none. */
  const calls = new Map<string, Map<string, Seqs>>();

  return {
    take({ seq, type, run_id = "", tool_call_id }) {
      if (tool_call_id === undefined) return;
      let runs = calls.get(tool_call_id);
      if (runs === undefined) {
        runs = new Map<string, Seqs>();
        calls.set(tool_call_id, runs);
      }
      let seqs = runs.get(run_id);
      if (seqs === undefined) {
        seqs = { telling: [], progress: [] };
        runs.set(run_id, seqs);
      }
      (type === "tool.progress" ? seqs.progress : seqs.telling).push(seq);
    },
    seqsOf({ tool_call_id, run_id }) {
      const runs = calls.get(tool_call_id);
      const found = [runs?.get(run_id), run_id === "" ? undefined : runs?.get("")];
      const telling = found.flatMap((one) => one?.telling ?? []);
      const progress = found.flatMap((one) => one?.progress ?? []);
      const half = MOST_TELLING / 2;
      const read =
        telling.length <= MOST_TELLING
          ? telling
          : [...telling.slice(0, half), ...telling.slice(-half)];
      const last = progress.slice(-MOST_PROGRESS);
      return {
        seqs: [...read, ...last].toSorted((a, b) => a - b),
        left_out: telling.length + progress.length - read.length - last.length,
      };
    },
  };
}
