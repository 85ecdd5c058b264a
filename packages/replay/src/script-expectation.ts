// What can be expected of a result when a script is run again: how it ended, and a line of it that is not of that one day,
// place or run.

import type { Expectation } from "@soong/agent";
import type { ToolResult } from "@soong/core";
import { omitUndefined } from "@soong/schema";

export function expectResult(
  result: number,
  recorded: ToolResult,
  isReplaced: boolean,
): Expectation {
  const status = recorded.is_error ? "error" : "ok";
  // Its text names another call by its id, which is of that run.
  const namesCall = recorded.error?.code === "skipped_after_failure";
  const line = isReplaced || namesCall ? undefined : stableLine(recorded);
  return { result, status, ...omitUndefined({ contains: line }) };
}

/** From outside the run, or by a crash: a script is not stopped there. */
export function wasStopped({ status, error }: ToolResult): boolean {
  return (
    STOPPED.has(status) || error?.code === "interrupted" || error?.code === "runtime_restarted"
  );
}

const STOPPED: ReadonlySet<string> = new Set(["aborted", "cancelled", "discarded", "unknown"]);

const MAX_CHARS = 120;
/** Times, durations, sizes that grow, ids, hashes, absolute paths, and placeholders of secrets. */
const OF_ONE_RUN =
  /\d{4,}|\d+(?:\.\d+)? ?m?s\b|\d\d?:\d\d|[0-9a-f]{8,}|(?:^|[\s"'(=])[/~\\]|[A-Za-z]:\\|_[0-9a-z]{8,}|\b(?:agent|call|node|run)_\d|\[redacted|…/;

/** The first line that says something; undefined where none is known to be stable. */
function stableLine({ content }: ToolResult): string | undefined {
  const [block] = content;
  if (block?.type !== "text") return undefined;
  const line = block.text.split("\n").find((one) => one.trim() !== "");
  const isPlain = line !== undefined && line.length <= MAX_CHARS && !OF_ONE_RUN.test(line);
  return isPlain ? line.trim() : undefined;
}
