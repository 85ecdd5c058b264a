// Quality, speed and size of the tool search at 10 000 tools. `run()` gives rows for the bench; run
// directly (`node bench/search/run.mjs [--quick]`) it prints them.

import { argv } from "node:process";
import { pathToFileURL } from "node:url";
import { loadCatalog } from "./catalog.mjs";
import { loadKernel } from "./kernel.mjs";
import { keywordSets } from "./keyword-queries.mjs";
import { miniSearch, OWN, ownIndex, wordCount } from "./searchers.mjs";

/**
 * @import { ReportRow } from "../benchmarks/index.mjs"
 * @import { QuerySet } from "./catalog.mjs"
 * @import { Kernel } from "./kernel.mjs"
 * @import { Document, Search } from "./searchers.mjs"
 */

const SIZE = 10_000;

/** @param {{ quick?: boolean }} [options] @returns {Promise<ReportRow[]>} */
export async function run({ quick = false } = {}) {
  const kernel = await loadKernel();
  const { tools, sets } = loadCatalog(SIZE);
  const documents = tools.map(kernel.createSearchDocument);
  const rows = costOfIndex(kernel, documents);

  const peer = await miniSearch(kernel);
  const searchers = [ownIndex(kernel), wordCount(kernel), ...("prepare" in peer ? [peer] : [])];
  const searches = new Map(searchers.map(({ name, prepare }) => [name, prepare(documents)]));
  // The plainest search takes milliseconds a query: everyone gets the same share of the queries.
  const share = quick ? 20 : 4;
  const sentences = sets.map((set) => everyNth(set, share));
  const keywords = keywordSets(tools.slice(0, 2_000), kernel).map((set) => everyNth(set, share));
  for (const set of [...sentences, ...keywords]) {
    for (const [name, search] of searches) rows.push(recallRow(set, name, search));
  }
  for (const [name, search] of searches) {
    const [part, rounds] = name === OWN ? [1, 7] : [10, 2];
    for (const [kind, of] of Object.entries({ sentences, keywords })) {
      const asked = of.map((set) => everyNth(set, part));
      rows.push(latencyRow(`${kind}: ${name}`, asked, search, rounds));
    }
  }
  if ("failure" in peer) rows.push({ name: peer.name, value: "not measured", note: peer.failure });
  return rows;
}

/** @param {QuerySet} set @param {number} step @returns {QuerySet} */
function everyNth({ name, queries }, step) {
  return { name, queries: queries.filter((_, at) => at % step === 0) };
}

/** @param {QuerySet} set @param {string} searcher @param {Search} search @returns {ReportRow} */
function recallRow({ name, queries }, searcher, search) {
  const cuts = [1, 5, 10];
  const sums = cuts.map(() => 0);
  for (const { text, relevant } of queries) {
    const found = search(text, Math.max(...cuts));
    for (const [at, cut] of cuts.entries()) {
      const top = new Set(found.slice(0, cut));
      const met = relevant.filter((need) => need.some((tool) => top.has(tool))).length;
      sums[at] = (sums[at] ?? 0) + Math.min(1, met / Math.min(cut, relevant.length));
    }
  }
  const shares = sums.map((sum) => ((100 * sum) / queries.length).toFixed(1));
  return {
    name: `recall@1 @5 @10, ${name}: ${searcher}`,
    value: shares.join("  "),
    unit: "%",
    note: `${queries.length} queries`,
  };
}

/**
 * @param {string} name @param {QuerySet[]} sets @param {Search} search @param {number} rounds
 * @returns {ReportRow}
 */
function latencyRow(name, sets, search, rounds) {
  const texts = sets.flatMap(({ queries }) => queries.map(({ text }) => text));
  const times = bestTimes(texts, (text) => search(text, 5), rounds);
  const [median, p95] = [0.5, 0.95].map((part) => Math.round(quantile(times, part) * 1_000));
  const note = `${texts.length} queries, five results, best of ${rounds}`;
  return { name: `p50 p95 of a search, ${name}`, value: `${median}  ${p95}`, unit: "µs", note };
}

/** @param {Kernel} kernel @param {Document[]} documents @returns {ReportRow[]} */
function costOfIndex({ createSearchIndex }, documents) {
  const builds = Array.from({ length: 5 }, () => timed(() => createSearchIndex(documents)));
  const before = liveBytes();
  const index = createSearchIndex(documents);
  index.search("the first search makes room for scores", { limit: 1 });
  const bytes = (liveBytes() - before) / SIZE;
  const some = documents.filter((_, at) => at % 7 === 0);
  const removing = bestTimes(some, ({ name }) => index.remove(name), 1);
  const adding = bestTimes(some, (document) => index.add(document), 1);
  const note = "median";
  return [
    { name: `building an index of ${SIZE} tools`, value: Math.min(...builds), unit: "ms" },
    { name: "size of the index", value: bytes, unit: "bytes/tool" },
    { name: "removing one of them", value: quantile(removing, 0.5) * 1_000, unit: "µs", note },
    { name: "adding it again", value: quantile(adding, 0.5) * 1_000, unit: "µs", note },
  ];
}

/**
 * The best of some rounds for each entry: what it costs when nothing else disturbs the machine.
 * @template T
 * @param {T[]} entries @param {(entry: T) => unknown} work @param {number} rounds
 */
function bestTimes(entries, work, rounds) {
  const best = entries.map(() => Infinity);
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, entry] of entries.entries()) {
      best[at] = Math.min(
        best[at] ?? Infinity,
        timed(() => work(entry)),
      );
    }
  }
  return best.toSorted((a, b) => a - b);
}

/** @param {() => unknown} work */
function timed(work) {
  const started = performance.now();
  work();
  return performance.now() - started;
}

/** @param {number[]} sorted @param {number} part */
function quantile(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** Exact only where the process was started with `--expose-gc`. */
function liveBytes() {
  for (let times = 0; times < 4; times += 1) globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

if (import.meta.url === pathToFileURL(argv[1] ?? "").href) {
  for (const { name, value, unit = "", note = "" } of await run({
    quick: argv.includes("--quick"),
  })) {
    const figure = typeof value === "number" ? value.toFixed(1) : value;
    process.stdout.write(`${name.padEnd(58)} ${figure.padStart(18)} ${unit} ${note}\n`);
  }
}
