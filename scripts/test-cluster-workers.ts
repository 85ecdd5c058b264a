// The campaign against workers of many machines (test/worker/campaign), with its figures and the aims of the design. `--short`
// does a tenth of it, in about two minutes.

import { runCampaign } from "../test/worker/campaign/campaign.ts";

const LONG = { kill: 200, partition: 50, restart: 20, suspend: 10, clock: 40 };
const SHORT = { kill: 20, partition: 5, restart: 2, suspend: 2, clock: 4 };

const isShort = process.argv.includes("--short");
const figures = await runCampaign({
  faults: isShort ? SHORT : LONG,
  cancels: isShort ? 5 : 20,
  stepsOfTask: 40,
  say: (line) => console.log(line),
});
const widths = [0, 1, 2].map((at) =>
  Math.max(...figures.map((one) => cells(one)[at]?.length ?? 0)),
);
for (const figure of figures) {
  const row = cells(figure).map((cell, at) => cell.padEnd(widths[at] ?? 0));
  console.log(`${figure.isMet ? "ok  " : "FAIL"}  ${row.join("  ")}`);
}
// Connections that broke in a hole may still be open, and would keep this process alive.
process.exit(figures.every(({ isMet }) => isMet) ? 0 : 1);

function cells({ name, value, aim }: (typeof figures)[number]): string[] {
  return [name, value, aim];
}
