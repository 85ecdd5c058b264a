// What all recorded runs would have come to: asked for a few sessions at a time and put together, until the end, a bound, or the user
// stops it.

import type { WhatIfAll, WhatIfAllAsked, WhatIfGroup } from "../../wire/policy-records.ts";

export interface AllRuns extends Omit<WhatIfAll, "next"> {
  /** Where to continue; undefined at the end. */
  next?: string | undefined;
}

export const NO_RUNS: AllRuns = { runs: 0, unchanged: 0, groups: [], skipped: {} };

/** So many runs at once; then the user may continue. */
export const MOST_RUNS = 1000;
const MOST_LATEST = 5;

export async function tryOnAllRuns(options: {
  from: AllRuns;
  asked: Omit<WhatIfAllAsked, "after">;
  ask: (asked: WhatIfAllAsked) => Promise<WhatIfAll>;
  onProgress: (sofar: AllRuns) => void;
}): Promise<void> {
  let sofar = options.from;
  const most = sofar.runs + MOST_RUNS;
  do {
    const { next: after } = sofar;
    const answer = await options.ask(
      after === undefined ? options.asked : { ...options.asked, after },
    );
    sofar = addAnswer(sofar, answer);
    options.onProgress(sofar);
  } while (sofar.next !== undefined && sofar.runs < most);
}

export function addAnswer(sofar: AllRuns, answer: WhatIfAll): AllRuns {
  const groups = new Map(sofar.groups.map((group) => [groupKey(group), group]));
  for (const group of answer.groups) {
    const known = groups.get(groupKey(group));
    groups.set(
      groupKey(group),
      known === undefined
        ? group
        : {
            ...known,
            count: known.count + group.count,
            latest: [...known.latest, ...group.latest].slice(0, MOST_LATEST),
          },
    );
  }
  const skipped = { ...sofar.skipped };
  for (const [why, count] of Object.entries(answer.skipped)) {
    skipped[why] = (Object.hasOwn(skipped, why) ? (skipped[why] ?? 0) : 0) + count;
  }
  return {
    runs: sofar.runs + answer.runs,
    unchanged: sofar.unchanged + answer.unchanged,
    groups: [...groups.values()],
    skipped,
    since: answer.since ?? sofar.since ?? "",
    next: answer.next,
  };
}

function groupKey({ tool_name, project, was, now }: WhatIfGroup): string {
  return JSON.stringify([tool_name, project, was, now]);
}

/** By what would be decided now. */
export function countNow(groups: readonly WhatIfGroup[]) {
  const counts = { allow: 0, ask: 0, deny: 0 };
  for (const { now, count } of groups) counts[now] += count;
  return counts;
}
