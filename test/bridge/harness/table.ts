// The table of cases in docs/bridges.md: for each peer whether a case holds bare, and with the bridge.

import { CASES } from "../cases/index.ts";
import type { CaseOutcome } from "./play-cases.ts";

/** By peer as the driver names it, then by case: `✗ / ✓`. */
export type Cells = ReadonlyMap<string, ReadonlyMap<string, string>>;

const BEGIN = "<!-- the table of cases: `npm run test:bridges` writes it -->";
const END = "<!-- the end of the table -->";
const MARKS = { ok: "✓", wrong: "✗", limit: "✗", without: "–" } as const;

export function collectCells(outcomes: readonly CaseOutcome[]): Cells {
  const cells = new Map<string, Map<string, string>>();
  for (const { peer, case: id } of outcomes) {
    const find = (mode: CaseOutcome["mode"]): string => {
      const one = outcomes.find((it) => it.peer === peer && it.case === id && it.mode === mode);
      return one === undefined ? "?" : MARKS[one.outcome];
    };
    const column = cells.get(peer) ?? new Map<string, string>();
    cells.set(peer, column.set(id, `${find("bare")} / ${find("bridge")}`));
  }
  return cells;
}

/** The page with this table in it. */
export function writeTable(page: string, outcomes: readonly CaseOutcome[]): string {
  const { before, after } = splitPage(page);
  const cells = collectCells(outcomes);
  const peers = [...cells.keys()];
  const rows = CASES.map(({ id, sentence }) => {
    const columns = peers.map((peer) => cells.get(peer)?.get(id) ?? "?");
    return formatRow([`\`${id}\``, sentence, ...columns]);
  });
  const table = [
    formatRow(["case", "what holds", ...peers]),
    formatRow(["---", "---", ...peers.map(() => ":-:")]),
    ...rows,
  ];
  const notes = listReasons(outcomes);
  return [before + BEGIN, "", ...table, "", ...notes, END + after].join("\n");
}

/** What the table of a page says. */
export function readTable(page: string): Cells {
  const [header = [], , ...rows] = splitPage(page)
    .table.split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  return new Map(
    header.slice(2).map((peer, at) => {
      const column = rows.map(
        (row) => [row[0]?.replaceAll("`", "") ?? "", row[at + 2] ?? ""] as const,
      );
      return [peer, new Map(column)] as const;
    }),
  );
}

function listReasons(outcomes: readonly CaseOutcome[]): string[] {
  const notes = outcomes
    .filter(({ mode }) => mode === "bridge")
    .flatMap(({ peer, case: id, outcome, detail }) => {
      if (outcome === "without") return [`- \`${id}\` means nothing with ${peer}: ${detail}.`];
      return outcome === "limit" ? [`- \`${id}\` does not hold with ${peer}: ${detail}.`] : [];
    });
  return notes.length === 0 ? [] : [...notes, ""];
}

function formatRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function splitPage(page: string): { before: string; table: string; after: string } {
  const [before, rest] = page.split(BEGIN);
  const [table, after] = rest?.split(END) ?? [];
  if (before === undefined || table === undefined || after === undefined) {
    throw new Error("docs/bridges.md has no place for the table of cases");
  }
  return { before, table, after };
}
