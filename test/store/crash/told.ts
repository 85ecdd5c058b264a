// What the killed runtimes of one session have told, all together: what has to be true whatever happened.

import type { Instant, ReportLine } from "./crash-job.ts";

export interface Told {
  /** By seq: the hash of the fact's text as it was appended. */
  readonly durable: Map<number, string>;
  /** The newest head of the chain that was durable. */
  head: string | undefined;
  /** By call id: how it ended, as its agent was told. */
  readonly results: Map<string, string>;
}

export function nothingTold(): Told {
  return { durable: new Map(), head: undefined, results: new Map() };
}

/** Throws when the runtime failed on its own. */
export function hear(told: Told, report: readonly ReportLine[]): void {
  for (const line of report) {
    if (line.kind === "failed") throw new Error(`The runtime failed by itself: ${line.message}`);
    if (line.kind === "durable") for (const [seq, hash] of line.facts) told.durable.set(seq, hash);
    if (line.kind === "head") told.head = line.hash;
    if (line.kind === "result") told.results.set(line.tool_call_id, line.status);
  }
}

/** Where the runtime was when it was killed. */
export type KilledWhere = "before the first commit" | "in a commit" | "after a commit" | "between";

export function killedWhere(report: readonly ReportLine[]): KilledWhere {
  const last = instantsOf(report).findLast((instant) => /^(?:commit|folder)\./.test(instant));
  if (last === undefined) return "before the first commit";
  if (last === "commit.before" || last === "commit.written") return "in a commit";
  return last === "folder.after" ? "between" : "after a commit";
}

/** The labelled instants it came to, in order. */
export function instantsOf(report: readonly ReportLine[]): Instant[] {
  return report.flatMap((line) => (line.kind === "at" ? [line.instant] : []));
}
