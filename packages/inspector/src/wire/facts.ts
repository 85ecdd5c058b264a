// The journal as a list. A row is one line; the whole fact is asked for by its seq.

import type { Fact, FactLevel } from "@soong/core";

export interface FactRow {
  seq: number;
  time: string;
  type: string;
  level: FactLevel;
  run_id?: string;
  tool_call_id?: string;
  tool_name?: string;
  /** What it says, in a line. */
  text: string;
}

/** `total` facts in the session, or in the run; rows from `offset` on, counted from 0. */
export interface FactRows {
  total: number;
  offset: number;
  rows: FactRow[];
}

export interface WholeFact {
  fact: Fact;
}
