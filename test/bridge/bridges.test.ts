// Every bridge on its real peer, with a scripted model: all cases hold with the bridge, and the table of the docs says what the
// bare peers do (MODEL-5, MODEL-6). `npm run test:bridges` does the same on two versions of Node.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test, type TestContext } from "vitest";
import { verifies } from "#laws";
import { extractSamples } from "../samples/extract-samples.ts";
import { CASES } from "./cases/index.ts";
import { checkTypes } from "./harness/check-types.ts";
import { isPeerInstalled, listPeers, preparePeer, type Peer } from "./harness/peers.ts";
import { runDriver, type DriverRun } from "./harness/run-driver.ts";
import { listSamples, runSample, samplesOfPeer } from "./harness/samples.ts";
import { collectCells, readTable } from "./harness/table.ts";

const peers = listPeers();
const folders = [...new Set(peers.map(({ folder }) => folder))];
const table = readTable(readFileSync("docs/bridges.md", "utf8"));
const LONG = { timeout: 300_000 };

test("there are 25 cases, each with an id of its own", () => {
  expect(new Set(CASES.map(({ id }) => id)).size).toBe(25);
});

test("the table of the docs has every case and every peer", () => {
  expect(table.size).toBe(peers.length);
  for (const column of table.values()) {
    expect([...column.keys()]).toEqual(CASES.map(({ id }) => id));
  }
});

test("every sample of a bridge is in a page of the docs", () => {
  const pages = readdirSync("docs/bridges").map((name) => join("docs", "bridges", name));
  const blocks = pages.flatMap((page) => extractSamples(page, readFileSync(page, "utf8")));
  const shown = new Set(blocks.map(({ code }) => code));
  const missing = listSamples().filter((sample) => !shown.has(sample.shown));
  expect(missing.map(({ file }) => file)).toEqual([]);
});

describe.each(peers.map((peer) => [peer.name, peer] as const))("%s", (name, peer) => {
  const law = name.startsWith("vendors-") ? "MODEL-5" : "MODEL-6";

  test("every case holds with the bridge", LONG, async (context) => {
    verifies(law);
    const { outcomes, problem } = await playCases(peer, context);
    const wrong = outcomes.filter(({ mode, outcome }) => mode === "bridge" && outcome === "wrong");
    expect(problem).toBeUndefined();
    expect(wrong.map(({ case: id, detail }) => `${id}: ${detail}`)).toEqual([]);
    expect(outcomes).toHaveLength(CASES.length * 2);
  });

  test("the table of the docs is true", LONG, async (context) => {
    const { outcomes } = await playCases(peer, context);
    for (const [title, column] of collectCells(outcomes)) {
      expect(Object.fromEntries(table.get(title) ?? [])).toEqual(Object.fromEntries(column));
    }
  });
});

describe.each(folders)("the sources for %s", (folder) => {
  const own = peers.filter((peer) => peer.folder === folder);
  const samples = samplesOfPeer(folder);

  test("drivers and samples have the types of the peer", LONG, async (context) => {
    await requirePeer(own[0]!, context);
    const drivers = own.map(({ name }) => `test/bridge/drivers/${name}.ts`);
    const files = [...drivers, ...samples.map(({ file }) => file)];
    expect(await checkTypes(folder, files)).toBe("");
  });

  test.for(samples)("the sample $name runs", LONG, async (sample, context) => {
    await requirePeer(own[0]!, context);
    expect(await runSample(sample, folder)).toBeUndefined();
  });
});

const installed = new Map<string, Promise<string | undefined>>();
const runs = new Map<string, Promise<DriverRun>>();
/** Mostly they wait, so several run at a time. */
const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve(), Promise.resolve()];

afterAll(() => Promise.allSettled(runs.values()));

async function playCases(peer: Peer, context: TestContext): Promise<DriverRun> {
  await requirePeer(peer, context);
  if (runs.size === 0) startDrivers();
  return runs.get(peer.name)!;
}

/** The slowest first. */
function startDrivers(): void {
  const ordered = peers.toSorted((a, b) => Number(b.isLarge) - Number(a.isLarge));
  for (const [at, peer] of ordered.entries()) startDriver(peer, at % lanes.length);
}

function startDriver(peer: Peer, lane: number): void {
  const run = Promise.resolve(lanes[lane]).then(async (): Promise<DriverRun> => {
    const problem = await install(peer);
    return problem === undefined ? runDriver(peer) : { outcomes: [], problem };
  });
  runs.set(peer.name, run);
  lanes[lane] = run.catch(() => {});
}

/** Skips the test where the peer cannot be had; with `CI` set that is a failure. */
async function requirePeer(peer: Peer, { task, skip }: TestContext): Promise<void> {
  const problem = await install(peer);
  if (problem === undefined) return;
  if (peer.isLarge) {
    task.meta.lacks = `\`npm run test:bridges -- ${peer.name}\`, which installs a large peer`;
    skip(problem);
  }
  if (process.env["CI"] !== undefined) throw new Error(`${peer.name}: ${problem}`);
  task.meta.lacks = "the npm registry, to install the peers of the bridges";
  skip(`${peer.name} could not be installed: ${problem}`);
}

/** Once for each folder. Why not, or nothing. */
async function install(peer: Peer): Promise<string | undefined> {
  if (peer.isLarge) {
    return isPeerInstalled(peer) ? undefined : `${peer.name} is large, and is not installed`;
  }
  const installing = installed.get(peer.folder) ?? preparePeer(peer, console.log);
  installed.set(peer.folder, installing);
  return installing;
}
