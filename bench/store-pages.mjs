// Prints, as rows of a report, what opening a long session and reading pages of it cost in time and memory.

import { openStore } from "@soong/store";
import { median } from "./statistics.mjs";

const [directory = "", count = ""] = process.argv.slice(2);
const facts = Number(count);
const middle = facts / 2;
const run_id = `run_${Math.floor(facts / 4000)}`;
const idle = process.memoryUsage().rss;

/** @type {import("./benchmarks/index.mjs").ReportRow[]} */
const rows = [];
const store = await timed("opening the store", 1, () => openStore({ directory }));
const session = await timed("opening the session for writing", 1, () => store.openSession("big"));
const { reader, journal } = session;

await page("first page of 1 000", 1000, () => reader.facts());
await page("page of 1 000 in the middle", 1000, () => reader.facts({ after: middle }));
await page("last page, backwards", 1000, () => reader.facts({ before: facts + 1 }));
await page("facts of a run of 1 000", 1000, () => reader.facts({ run_id }));
await page("facts of one call of that run", 7, () =>
  reader.facts({ run_id, tool_call_id: "call_9" }),
);
await page("facts of a call nobody made, in any run", 0, () =>
  reader.facts({ tool_call_id: "none" }),
);
await page("calls of that run", 142, () => reader.calls({ run_id }));
await page("256 facts of the journal in the middle", 256, async () => journal.read(middle, 256));

const begun = performance.now();
let read = 0;
for (let after = 0; ;) {
  const next = await reader.facts({ after, limit: 1000 });
  const last = next.at(-1);
  if (last === undefined) break;
  read += next.length;
  after = last.seq;
}
if (read !== facts) throw new Error(`${read} facts of ${facts}`);
rows.push({
  name: "all of it, page by page",
  value: (performance.now() - begun) * (1e6 / facts),
  unit: "ms per 1 000 000",
});
await store.close();
rows.push({
  name: "memory above idle, at most",
  // In kilobytes, the most this process ever had.
  value: (process.resourceUsage().maxRSS * 1024 - idle) / 1e6,
  unit: "MB",
});
console.log(JSON.stringify(rows));

/**
 * The first time counts for a person who opens something, the median for a program that goes on.
 *
 * @template T
 * @param {string} name @param {number} times @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function timed(name, times, work) {
  /** @type {number[]} */
  const took = [];
  let last;
  for (let i = 0; i < times; i += 1) {
    const from = performance.now();
    last = await work();
    took.push(performance.now() - from);
  }
  const [first = Number.NaN] = took;
  const again = took.length > 1 ? { note: `again ${median(took.slice(1)).toFixed(2)}` } : {};
  rows.push({ name, value: first, unit: "ms", ...again });
  return /** @type {T} */ (last);
}

/** @param {string} name @param {number} expected @param {() => Promise<readonly unknown[]>} work */
async function page(name, expected, work) {
  const found = await timed(name, 20, work);
  if (found.length !== expected) throw new Error(`${name}: ${found.length}, not ${expected}`);
}
