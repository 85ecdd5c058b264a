// npm run bench [filter…] [--quick] [--json] [--gate]: sets up what is missing, measures, prints ratios.
// Progress goes to stderr; the tables, or one JSON document, to stdout and to bench/results/.

import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { benchmarks } from "./benchmarks/index.mjs";
import { compareWithAims, describeAims, readAims } from "./gate.mjs";
import { runReport, runRounds } from "./rounds.mjs";
import { buildPackages, installPeer } from "./setup.mjs";
import { subjects } from "./subjects/index.mjs";
import { notesOf, reportOf, rowsOf, tableOf } from "./table.mjs";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean" }, json: { type: "boolean" }, gate: { type: "boolean" } },
});
const quick = flags.quick ?? false;
const started = performance.now();
const say = (/** @type {string} */ line) =>
  process.stderr.write(`[${Math.round((performance.now() - started) / 1000)} s] ${line}\n`);
const print = (/** @type {string} */ text) => flags.json || process.stdout.write(`${text}\n\n`);

const chosen = benchmarks.filter(
  ({ id }) => positionals.length === 0 || positionals.some((filter) => id.includes(filter)),
);
if (chosen.length === 0) {
  say(
    `no benchmark matches "${positionals.join(" ")}"; there are ${benchmarks.map(({ id }) => id).join(", ")}`,
  );
  process.exit(1);
}

await buildPackages(say);
const unavailable = await installPeers();
const machine = { node: process.version, cpu: cpus()[0]?.model ?? "", cores: cpus().length, quick };
print(`Node ${machine.node}, ${machine.cores} × ${machine.cpu}${quick ? ", quick" : ""}`);

const results = [];
for (const benchmark of chosen) {
  const { id, title } = benchmark;
  if ("report" in benchmark) {
    say(`${id}: measuring`);
    const outcome = await runReport(benchmark, { quick });
    results.push({ id, title, ...outcome });
    const { rows = [], failure } = outcome;
    if (rows.length > 0) print(reportOf(title, rows));
    if (failure) print(`${title}\n\n  not measured: ${failure}`);
    continue;
  }
  const outcomes = await runRounds(benchmark, { quick, unavailable, say });
  const rows = rowsOf(benchmark, outcomes);
  const notes = outcomes.map((outcome) => ({ subject: outcome.subject, notes: notesOf(outcome) }));
  results.push({ id, title, rows, notes });
  print(tableOf(benchmark, rows, outcomes, (subject) => subjects[subject]?.title ?? subject));
}

const aims = flags.gate ? compareWithAims(readAims(), results) : undefined;
if (aims) print(describeAims(aims));
if (aims?.some(({ verdict }) => verdict === "MISSED")) process.exitCode = 1;

const document = JSON.stringify(
  { ...machine, benchmarks: results, ...(aims && { aims }) },
  null,
  2,
);
const folder = fileURLToPath(new URL("./results/", import.meta.url));
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}latest.json`, `${document}\n`);
if (flags.json) process.stdout.write(`${document}\n`);
say("done");

/** @returns {Promise<Map<string, string>>} subjects that cannot be measured, and why */
async function installPeers() {
  const wanted = new Set(chosen.flatMap((one) => ("subjects" in one ? one.subjects : [])));
  /** @type {Map<string, string | undefined>} */
  const failures = new Map();
  const missing = new Map();
  for (const id of wanted) {
    const peer = subjects[id]?.peer;
    if (!peer) continue;
    if (!failures.has(peer)) failures.set(peer, await installPeer(`bench/peers/${peer}`, say));
    const failure = failures.get(peer);
    if (failure) missing.set(id, `could not be installed: ${failure}`);
  }
  return missing;
}
