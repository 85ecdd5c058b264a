// Compares the figures of a run with the aims in aims.json.

import { readFileSync } from "node:fs";
import { pairedRatio } from "./statistics.mjs";
import { digits } from "./table.mjs";

/**
 * @import { ReportRow } from "./benchmarks/index.mjs"
 * @import { Row } from "./table.mjs"
 *
 * @typedef {object} Aim
 * @property {string} aim  what it is about, for a reader
 * @property {string} benchmark
 * @property {string} row  the subject of a table, or the name of a report's row
 * @property {string} [metric]  of a table
 * @property {string} [against]  the row to divide by
 * @property {number} [most]
 * @property {number} [least]
 *
 * @typedef {{ id: string, rows?: (Row | ReportRow)[] | undefined }} Result
 * @typedef {"met" | "MISSED" | "not measured"} Verdict
 * @typedef {Aim & { verdict: Verdict, figure?: number, unit?: string }} Compared
 */

/** @returns {Aim[]} */
export function readAims() {
  const text = readFileSync(new URL("./aims.json", import.meta.url), "utf8");
  return /** @type {Aim[]} */ (JSON.parse(text));
}

/**
 * An aim whose benchmark did not run is not measured. One whose benchmark ran without giving the figure is missed.
 * @param {readonly Aim[]} aims @param {readonly Result[]} results
 * @returns {Compared[]}
 */
export function compareWithAims(aims, results) {
  return aims.map((aim) => {
    const result = results.find(({ id }) => id === aim.benchmark);
    if (!result) return { ...aim, verdict: "not measured" };
    const found = figureOf(aim, result.rows ?? []);
    if (!found) return { ...aim, verdict: "MISSED" };
    const { most = Infinity, least = -Infinity } = aim;
    const isMet = found.figure <= most && found.figure >= least;
    return { ...aim, verdict: isMet ? "met" : "MISSED", ...found };
  });
}

/** @param {readonly Compared[]} compared @returns {string} a line for each aim */
export function describeAims(compared) {
  const lines = compared.map(({ aim, benchmark, verdict, most, least, figure, unit = "" }) => {
    const bound = most === undefined ? `at least ${least}` : `at most ${most}`;
    const shown = figure === undefined ? "no figure" : digits(figure);
    const what = verdict === "not measured" ? bound : `${shown} ${unit}, ${bound}`;
    return `  ${verdict.padEnd("not measured".length)}  ${benchmark}: ${aim}: ${what}`;
  });
  const count = (/** @type {Verdict} */ verdict) =>
    compared.filter((one) => one.verdict === verdict).length;
  const sums = `${count("met")} met, ${count("MISSED")} missed, ${count("not measured")} not measured`;
  return ["Aims", "", ...lines, "", `  ${sums}`].join("\n");
}

/** @param {Aim} aim @param {readonly (Row | ReportRow)[]} rows @returns {{ figure: number, unit: string } | undefined} */
function figureOf({ row, metric, against }, rows) {
  const own = findRow(rows, row, metric);
  if (!own) return undefined;
  const { figure, unit = "" } = own;
  if (against === undefined) return { figure, unit };
  const other = findRow(rows, against, metric);
  if (!other) return undefined;
  const ratio = pairedRatio(own.series, other.series) ?? figure / other.figure;
  return { figure: ratio, unit: "×" };
}

/** @param {readonly (Row | ReportRow)[]} rows @param {string} name @param {string | undefined} metric */
function findRow(rows, name, metric) {
  const found = rows.find((one) =>
    "subject" in one ? one.subject === name && one.metric === metric : one.name === name,
  );
  if (!found) return undefined;
  const { unit, series } = found;
  const figure = "subject" in found ? found.median : Number(found.value);
  return Number.isNaN(figure) ? undefined : { figure, unit, series };
}
