import { expect, test } from "vitest";
import type { WhatIfAll, WhatIfGroup } from "../../wire/policy-records.ts";
import { addAnswer, countNow, MOST_RUNS, NO_RUNS, tryOnAllRuns, type AllRuns } from "./all-runs.ts";

const group = (tool_name: string, now: WhatIfGroup["now"], count: number): WhatIfGroup => ({
  tool_name,
  project: "/p",
  was: "ask",
  now,
  count,
  latest: [],
});

test("answers are put together by tool, project and decision", () => {
  const first: WhatIfAll = {
    runs: 2,
    unchanged: 5,
    groups: [group("a.b", "deny", 1), group("a.b", "allow", 4)],
    skipped: { "never began": 1 },
    since: "2026-02-02",
    next: "x",
  };
  const second = { ...first, groups: [group("a.b", "deny", 2)], since: "2026-01-01" };
  const sum = addAnswer(addAnswer(NO_RUNS, first), second);
  expect(sum).toMatchObject({ runs: 4, unchanged: 10, since: "2026-01-01", next: "x" });
  expect(sum.groups.map(({ now, count }) => [now, count])).toEqual([
    ["deny", 3],
    ["allow", 4],
  ]);
  expect(sum.skipped).toEqual({ "never began": 2 });
  expect(countNow(sum.groups)).toEqual({ allow: 4, ask: 0, deny: 3 });
});

test("it ends at the end, or at a bound from which it continues", async () => {
  const asked: (string | undefined)[] = [];
  let sofar: AllRuns = NO_RUNS;
  const options = {
    asked: { config_file: "c" },
    ask: async ({ after }: { after?: string }): Promise<WhatIfAll> => {
      asked.push(after);
      const next = asked.length < 12 ? { next: String(asked.length) } : {};
      return { runs: MOST_RUNS / 4, unchanged: 0, groups: [], skipped: {}, ...next };
    },
    onProgress: (now: AllRuns) => {
      sofar = now;
    },
  };
  await tryOnAllRuns({ ...options, from: NO_RUNS });
  expect(asked).toEqual([undefined, "1", "2", "3"]);
  await tryOnAllRuns({ ...options, from: sofar });
  await tryOnAllRuns({ ...options, from: sofar });
  expect(asked).toHaveLength(12);
  expect(sofar).toMatchObject({ runs: 3 * MOST_RUNS, next: undefined });
});
