// The earlier attempts at a step: the next worker has to know what was tried, how that ended, and what it may have
// changed by then.

import { omitUndefined } from "@soong/schema";
import { withoutClaim, type Draft } from "./draft.ts";
import type { EarlierAttempt, StepRecord } from "./records.ts";

const MOST_KEPT = 10;
const MESSAGE_CHARS = 500;

/** The step without the claim it had, and with what came of it. */
export function addEarlierAttempt(
  draft: Draft,
  step: StepRecord,
  outcome: EarlierAttempt["outcome"],
  message: string,
): StepRecord {
  const { claim, attempts: attempt, earlier = [] } = step;
  if (claim === undefined) return withoutClaim(step);
  const { run_id, worker } = claim;
  const ended: EarlierAttempt = {
    attempt,
    outcome,
    message: message.slice(0, MESSAGE_CHARS),
    run_id,
    ...omitUndefined({ worker }),
    at: draft.at,
  };
  return { ...withoutClaim(step), earlier: [...earlier, ended].slice(-MOST_KEPT) };
}

/** One call of an earlier attempt that changed something outside, or may have. */
export interface EarlierCall {
  readonly run_id: string;
  readonly tool_call_id: string;
  readonly tool_name: string;
  /** `unknown`: it is not known whether it happened. */
  readonly status: string;
  /** The files, programs and hosts it was about. */
  readonly targets: readonly string[];
}

/** What runs of the session did to the outside, as its journal has it. */
export type EarlierCalls = (run_ids: readonly string[]) => Promise<readonly EarlierCall[]>;

/** Attempts, with their calls where those can be read. */
export async function readEarlierAttempts(
  { earlier = [] }: Pick<StepRecord, "earlier">,
  readCalls: EarlierCalls | undefined,
): Promise<readonly (EarlierAttempt & { readonly calls?: readonly EarlierCall[] })[]> {
  if (earlier.length === 0 || readCalls === undefined) return earlier;
  const calls = await readCalls(earlier.map(({ run_id }) => run_id));
  return earlier.map((attempt) => {
    const own = calls.filter(({ run_id }) => run_id === attempt.run_id);
    return own.length === 0 ? attempt : { ...attempt, calls: own };
  });
}

/** For the next worker, before anything else. Undefined for a step that was not tried yet. */
export async function describeEarlierAttempts(
  step: StepRecord,
  readCalls: EarlierCalls | undefined,
): Promise<string | undefined> {
  const attempts = await readEarlierAttempts(step, readCalls);
  if (attempts.length === 0) return undefined;
  const lines = attempts.flatMap(({ attempt, outcome, message, calls = [] }) => [
    `- Attempt ${attempt} ended as ${outcome}: ${message}`,
    ...calls.map(
      ({ tool_name, status, targets }) =>
        `  - ${[tool_name, ...targets].join(" ")}: ${status}${status === "unknown" ? ", it may or may not have happened" : ""}`,
    ),
  ]);
  return [
    "This step was tried before. Do not do again what has happened; where that is unknown, find out first.",
    ...lines,
  ].join("\n");
}
