// Compares planPatch with `git apply`: both must apply with the same bytes, or both refuse.

import { expect } from "vitest";
import { planPatch } from "../../packages/tools/src/edit/patch.ts";
import { applyWithGit, FILE_NAME, type GitCase, type GitResult } from "./patch-git.ts";
import { randomFrom, type Random } from "./patch-random.ts";

const full = process.env["SOONG_TEST_FULL"] === "1";

/** Ten times as many, and new ones each time, in the full run. */
export async function expectAgreement(
  count: number,
  makeCase: (random: Random) => GitCase,
): Promise<Tally> {
  const fixed = process.env["SOONG_TEST_SEED"] ?? (full ? undefined : "20260101");
  const seed = fixed === undefined ? Date.now() % 1_000_000_000 : Number(fixed);
  const cases = Array.from({ length: full ? 10 * count : count }, (_, number) =>
    makeCase(randomFrom(seed + number * 7919)),
  );
  return expectSame(cases, `seed ${seed}, `);
}

export async function expectSame(cases: readonly GitCase[], where = ""): Promise<Tally> {
  const results = await applyWithGit(cases);
  const tally: Tally = { applied: 0, refused: 0, unchanged: 0, stricter: 0 };
  const disagreements: string[] = [];
  for (const [number, given] of cases.entries()) {
    const outcome = compare(given, results[number]);
    if (typeof outcome === "string") tally[outcome] += 1;
    else disagreements.push(`${where}case ${number}: ${JSON.stringify(outcome)}`);
  }
  expect(disagreements.slice(0, 10)).toEqual([]);
  return tally;
}

export type Tally = Record<"applied" | "refused" | "unchanged" | "stricter", number>;

function compare({ before, patch }: GitCase, git: GitResult): keyof Tally | object {
  const plan = planPatch(before, patch, { path: FILE_NAME, create: true });
  // What leaves the file as it is, git calls applied; a call that does nothing is an error.
  if (!plan.ok && before !== undefined && git?.equals(before) === true) return "unchanged";
  // From a plain header without any hunk git makes an empty file; here a patch has at least one.
  const hunkless = !plan.ok && plan.error.message.startsWith("The patch has no hunk");
  if (hunkless && before === undefined && git?.length === 0) return "unchanged";
  // Changes beyond the counts of the last hunk: git drops them in silence, we refuse.
  if (!plan.ok && git !== undefined && hasUncountedChanges(patch, plan.error.message)) {
    return "stricter";
  }
  if (!plan.ok && git === undefined) return "refused";
  if (plan.ok && git?.equals(plan.after) === true) return "applied";
  return {
    before: before?.toString(),
    patch,
    git: git?.toString() ?? "refused",
    ours: plan.ok ? Buffer.from(plan.after).toString() : plan.error.message,
  };
}

/** Judged by the words of the refusal and by counting once more: fewer are counted than follow. */
function hasUncountedChanges(patch: string, message: string): boolean {
  const counted = /counts (\d+) old and (\d+) new lines, but (\d+) and (\d+) follow/.exec(message);
  if (counted === null || !/\n[-+]/.test(patch)) return false;
  const [, old = 0, added = 0, allOld = 0, allAdded = 0] = counted.map(Number);
  return allOld > old || allAdded > added;
}
