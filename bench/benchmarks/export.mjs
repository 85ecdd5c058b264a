// Facts to records of each standard (EXPORT-1): lines of a journal in, lines of records out, against JSON.parse and
// JSON.stringify of the same lines; and what a projection keeps on the heap.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { playRun, TOOL } from "../loop.mjs";
import { paired } from "../paired.mjs";

/**
 * @import { Fact } from "@soong/core"
 * @import { Projection } from "@soong/export"
 * @import { Report } from "./index.mjs"
 *
 * @typedef {readonly [name: string, create: () => Projection<object>]} Format
 */

const FLOOR = "JSON.parse and JSON.stringify";
const FORMATS = ["agent-tool", "agent-runtime", "cloudevents", "otlp"];
const HEAP = "most heap that a format keeps";

/** @type {Report} */
export const exportFacts = {
  id: "export",
  title: "100 000 facts as records of each standard (quick: 20 000)",
  rows: [FLOOR, ...FORMATS, HEAP],
  async report({ quick }) {
    const lines = await recordLines(quick ? 20_000 : 100_000);
    const formats = await openFormats();
    const rows = await paired(
      [
        { name: FLOOR, run: async () => countChars(lines, (line) => [parseFact(line)]) },
        ...formats.map(([name, create]) => ({ name, run: async () => project(lines, create()) })),
      ],
      { rounds: quick ? 3 : 9, unit: "µs", per: lines.length, cpu: true },
    );
    const kept = formats.map(([name, create]) => ({ name, bytes: measureKept(lines, create()) }));
    const most = kept.toSorted((a, b) => b.bytes - a.bytes)[0];
    return [
      ...rows,
      {
        name: HEAP,
        value: (most?.bytes ?? 0) / 1e6,
        unit: "MB",
        note: `${most?.name}; the facts are ${(lines.join("").length / 1e6).toFixed(0)} MB of JSON`,
      },
    ];
  },
};

/** @returns {Promise<Format[]>} */
async function openFormats() {
  const standards = await import("@soong/export");
  return [
    ["agent-tool", standards.createAgentToolProjection],
    ["agent-runtime", () => standards.createAgentRuntimeProjection()],
    ["cloudevents", standards.createCloudEventsProjection],
    ["otlp", () => standards.createOtlpProjection()],
  ];
}

/** @param {readonly string[]} lines @param {Projection<object>} projection */
function project(lines, projection) {
  const chars = countChars(lines, (line) => projection.push(parseFact(line)));
  return chars + countChars([""], () => projection.end());
}

/**
 * All records as lines; none of them is kept.
 * @param {readonly string[]} lines @param {(line: string) => readonly object[]} map
 */
function countChars(lines, map) {
  let chars = 0;
  for (const line of lines) {
    for (const record of map(line)) chars += JSON.stringify(record).length;
  }
  return chars;
}

/**
 * Bytes that a projection holds after all but the end of a run, above what it held after a tenth of it.
 * @param {readonly string[]} lines @param {Projection<object>} projection
 */
function measureKept(lines, projection) {
  const collect = exposeCollector();
  const first = Math.floor(lines.length / 10);
  let before = 0;
  lines.forEach((line, i) => {
    projection.push(parseFact(line));
    if (i !== first) return;
    collect();
    before = process.memoryUsage().heapUsed;
  });
  collect();
  const kept = process.memoryUsage().heapUsed - before;
  // Held until here.
  projection.end();
  return Math.max(0, kept);
}

/** @returns {() => void} */
function exposeCollector() {
  setFlagsFromString("--expose-gc");
  return /** @type {() => void} */ (runInNewContext("gc"));
}

/** @param {string} line */
function parseFact(line) {
  return /** @type {Fact} */ (JSON.parse(line));
}

/** The facts of one long run of the loop, two calls a turn, as a journal on disk has them. @param {number} count */
async function recordLines(count) {
  const { createMemoryJournal } = await import("@soong/core");
  const journal = createMemoryJournal();
  const call = (/** @type {number} */ i) => ({
    tool: TOOL,
    input: { path: `src/module-${i % 97}/file-${i}.ts`, ms: 0 },
  });
  const turns = Array.from({ length: Math.ceil(count / FACTS_OF_A_TURN) }, (_, i) => ({
    text: `I look into two more files, which are number ${2 * i} and the next.`,
    calls: [call(2 * i), call(2 * i + 1)],
  }));
  await playRun(
    { turns: [...turns, { text: "Done.", calls: [] }] },
    { journal, close: async () => {} },
  );
  if (journal.facts.length < count) throw new Error(`only ${journal.facts.length} facts`);
  return journal.facts.slice(0, count).map((fact) => JSON.stringify(fact));
}

/** At least. */
const FACTS_OF_A_TURN = 12;
