// What the killed runtimes of one session have reported, all together: what has to be true whatever happened.

import type { Instant, ReportLine } from "./crash-job.ts";

export interface Reported {
  /** By seq: the hash of the fact's text as it was appended. */
  readonly durable: Map<number, string>;
  /** The newest head of the chain that was durable. */
  head: string | undefined;
  /** By call id: how it ended, as its agent was reported. */
  readonly results: Map<string, string>;
}

export function nothingReported(): Reported {
  return { durable: new Map(), head: undefined, results: new Map() };
}

/** Throws when the runtime failed on its own. */
export function addReport(reported: Reported, report: readonly ReportLine[]): void {
  for (const line of report) {
    if (line.kind === "failed") throw new Error(`The runtime failed by itself: ${line.message}`);
    if (line.kind === "durable")
      for (const [seq, hash] of line.facts) reported.durable.set(seq, hash);
    if (line.kind === "head") reported.head = line.hash;
    if (line.kind === "result") reported.results.set(line.tool_call_id, line.status);
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
