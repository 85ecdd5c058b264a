// The bridges on the real peers, on Node 20 and Node 22 (MODEL-6): plays all cases, bare and with the bridge. A run of all peers
// writes the table of docs/bridges.md. `npm run test:bridges -- mastra langchain` is for some of them, and a word with a colon
// chooses a case: `npm run test:bridges -- mastra :timeout`. Peers are installed on demand; one of them is 355 MB.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listPeers, prepareNode22, preparePeer, type Peer } from "../test/bridge/harness/peers.ts";
import type { CaseOutcome } from "../test/bridge/harness/play-cases.ts";
import { runDriver } from "../test/bridge/harness/run-driver.ts";
import { writeTable } from "../test/bridge/harness/table.ts";
import { run } from "./command.ts";

const given = process.argv.slice(2);
const cases = given.filter((word) => word.startsWith(":")).map((word) => word.slice(1));
const names = given.filter((word) => !word.startsWith(":"));
const peers = listPeers();
const unknown = names.filter((name) => !peers.some((peer) => peer.name === name));
if (unknown.length > 0) {
  const known = peers.map(({ name }) => name).join(", ");
  console.error(`There is no peer ${unknown.join(", ")}. There are ${known}.`);
  process.exitCode = 2;
} else {
  const chosen = peers.filter(({ name }) => names.length === 0 || names.includes(name));
  const tried = await tryPeers(chosen);
  const isAll = given.length === 0 && tried.untried.length === 0;
  if (isAll) writePage(tried.outcomes);
  const failed = [...tried.untried, ...tried.failed];
  const limits = tried.outcomes.filter(({ outcome }) => outcome === "limit").length;
  const besides = limits === 0 ? "" : `, besides ${limits} that a peer leaves no way for`;
  console.log(failed.length === 0 ? `All cases hold${besides}.` : `Failed: ${failed.join(", ")}.`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

interface Tried {
  /** On the Node that runs this. */
  readonly outcomes: CaseOutcome[];
  readonly failed: string[];
  /** What could not be installed. */
  readonly untried: string[];
}

async function tryPeers(chosen: readonly Peer[]): Promise<Tried> {
  const newer = await prepareNode22(console.log);
  if ("problem" in newer) console.log(`Node 22 is not tried: ${newer.problem}`);
  const nodes = [
    { node: process.execPath, version: process.versions.node },
    ...("node" in newer ? [{ node: newer.node, version: "22" }] : []),
  ];
  const tried: Tried = { outcomes: [], failed: [], untried: [] };
  for (const peer of chosen) {
    const problem = await preparePeer(peer, console.log);
    if (problem !== undefined) {
      console.log(`${peer.name}: not tried, it could not be installed: ${problem}`);
      tried.untried.push(peer.name);
      continue;
    }
    for (const { node, version } of nodes) {
      const { outcomes, problem } = await runDriver(peer, { node, cases });
      const isFirst = node === process.execPath;
      if (isFirst) tried.outcomes.push(...outcomes);
      report(`${outcomes[0]?.peer ?? peer.name} on Node ${version}`, outcomes, isFirst);
      if (problem !== undefined) console.log(problem.replaceAll(/^/gm, "    "));
      const isWrong = outcomes.some(
        ({ mode, outcome }) => mode === "bridge" && outcome === "wrong",
      );
      if (isWrong || problem !== undefined) tried.failed.push(`${peer.name} on Node ${version}`);
    }
  }
  return tried;
}

function report(what: string, outcomes: readonly CaseOutcome[], withBare: boolean): void {
  const count = (mode: CaseOutcome["mode"], outcome: CaseOutcome["outcome"]): number =>
    outcomes.filter((one) => one.mode === mode && one.outcome === outcome).length;
  const without = count("bridge", "without");
  const all = outcomes.filter(({ mode }) => mode === "bridge").length - without;
  const besides = without === 0 ? "" : `, ${without} mean nothing there`;
  console.log(
    `${what}: ${count("bridge", "ok")} of ${all} cases with the bridge, ${count("bare", "ok")} bare${besides}`,
  );
  for (const { mode, case: id, outcome, detail = "" } of outcomes) {
    const isShown = outcome === "limit" || (outcome === "wrong" && (mode === "bridge" || withBare));
    if (isShown) console.log(`    ${mode} ${id}: ${detail}`);
  }
}

function writePage(outcomes: readonly CaseOutcome[]): void {
  const path = join("docs", "bridges.md");
  writeFileSync(path, writeTable(readFileSync(path, "utf8"), outcomes));
  run("oxfmt", [path]);
}
