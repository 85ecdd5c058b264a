// Weighs laws against test outcomes: which are proven, which are only claimed. Pure; the reporter prints it.

import type { Law } from "./manifest.ts";

export interface TestOutcome {
  readonly laws: readonly string[];
  readonly passed: boolean;
  /** What this machine has not, so that the test could not be: a browser. */
  readonly lacks?: string | undefined;
}

export interface LedgerEntry {
  readonly law: Law;
  readonly passingTests: number;
  /** Of the tests that could not be. */
  readonly lacks?: string;
}

export function buildLedger(
  laws: readonly Law[],
  outcomes: readonly TestOutcome[],
): readonly LedgerEntry[] {
  const passing = new Map<string, number>();
  const lacking = new Map<string, string>();
  for (const { laws: ids, passed, lacks } of outcomes) {
    for (const id of new Set(ids)) {
      if (passed) passing.set(id, (passing.get(id) ?? 0) + 1);
      else if (lacks !== undefined) lacking.set(id, lacks);
    }
  }
  return laws.map((law) => {
    const passingTests = passing.get(law.id) ?? 0;
    const lacks = passingTests === 0 ? lacking.get(law.id) : undefined;
    return { law, passingTests, ...(lacks === undefined ? {} : { lacks }) };
  });
}

/** Laws marked done, wholly or partly, that no passing test verifies, though the machine has what it takes. */
export function brokenPromises(ledger: readonly LedgerEntry[]): readonly Law[] {
  return ledger
    .filter(
      ({ law, passingTests, lacks }) =>
        law.status !== "open" && passingTests === 0 && lacks === undefined,
    )
    .map(({ law }) => law);
}

export function renderLedger(ledger: readonly LedgerEntry[]): string {
  const done = ledger.filter(({ law }) => law.status === "done");
  const partly = ledger.filter(({ law }) => law.status === "partly");
  const open = ledger.filter(({ law }) => law.status === "open");
  const openWithTests = open.filter(({ passingTests }) => passingTests > 0);
  return [
    `Laws: ${done.length} done, ${partly.length} partly, ${open.length} open (in brackets: passing tests)`,
    ...row("done", done.map(label)),
    ...row("partly", partly.map(label)),
    ...row("open, with tests", openWithTests.map(label)),
    `  ${"open, no tests".padEnd(LABEL_WIDTH)}${open.length - openWithTests.length}`,
    ...ledger.flatMap(({ law, lacks }) =>
      lacks === undefined ? [] : [`  ${law.id} is not shown here: its tests need ${lacks}.`],
    ),
  ].join("\n");
}

/** A line for each thing that this machine has not, with how many tests were skipped for it. */
export function renderLacking(outcomes: readonly TestOutcome[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { lacks } of outcomes) {
    if (lacks !== undefined) counts.set(lacks, (counts.get(lacks) ?? 0) + 1);
  }
  return [...counts].map(
    ([lacks, count]) =>
      `skipped: ${count === 1 ? "1 test needs" : `${count} tests need`} ${lacks}.`,
  );
}

export function renderBrokenPromises(broken: readonly Law[]): string {
  return [
    "Marked done in laws.json, but no passing test verifies them:",
    ...broken.map((law) => `  ${law.id}: ${law.sentence}`),
  ].join("\n");
}

const LABEL_WIDTH = 18;
const LINE_WIDTH = 100;

function label({ law, passingTests }: LedgerEntry): string {
  return `${law.id} (${passingTests})`;
}

/** One titled row, wrapped under its title. Empty rows are omitted. */
function row(title: string, items: readonly string[]): string[] {
  const lines: string[] = [];
  let line = "";
  for (const item of items) {
    if (line !== "" && LABEL_WIDTH + line.length + item.length + 4 > LINE_WIDTH) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? item : `  ${item}`;
  }
  if (line !== "") lines.push(line);
  return lines.map((text, at) => `  ${(at === 0 ? title : "").padEnd(LABEL_WIDTH)}${text}`);
}
