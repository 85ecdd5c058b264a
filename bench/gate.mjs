// Holds the figures of a run against the aims in aims.json. An aim names a benchmark and a row: with a metric, and
// another row to be divided by, for a table; without, the value of a report's row.

import { readFileSync } from "node:fs";

/**
 * @import { ReportRow } from "./benchmarks/index.mjs"
 * @import { Row } from "./table.mjs"
 *
 * @typedef {object} Aim
 * @property {string} benchmark
 * @property {string} row  a subject, or how the name of a report's row begins
 * @property {string} [metric]
 * @property {string} [against]  the subject to divide by
 * @property {number} [most]
 * @property {number} [least]
 *
 * @typedef {{ id: string, rows?: (Row | ReportRow)[] }} Result
 */

/** @param {Result[]} results @returns {{ lines: string[], missed: number }} a line for each aim of what was measured */
export function holdAgainstAims(results) {
  const text = readFileSync(new URL("./aims.json", import.meta.url), "utf8");
  const aims = /** @type {Aim[]} */ (JSON.parse(text));
  const lines = [];
  let missed = 0;
  for (const aim of aims) {
    const result = results.find(({ id }) => id === aim.benchmark);
    if (!result) continue;
    const figure = figureOf(aim, result.rows ?? []);
    const isMet =
      figure !== undefined &&
      figure <= (aim.most ?? Infinity) &&
      figure >= (aim.least ?? -Infinity);
    if (!isMet) missed += 1;
    const what = [aim.benchmark, aim.metric, aim.row, aim.against && `/ ${aim.against}`];
    const bound = aim.most === undefined ? `at least ${aim.least}` : `at most ${aim.most}`;
    const shown = figure === undefined ? "not measured" : Number(figure.toPrecision(3));
    lines.push(
      `${isMet ? "met   " : "MISSED"}  ${what.filter(Boolean).join(" ")}: ${shown}, ${bound}`,
    );
  }
  return { lines, missed };
}

/** @param {Aim} aim @param {(Row | ReportRow)[]} rows */
function figureOf({ row, metric, against }, rows) {
  if (metric === undefined) {
    const found = rows.find((one) => "name" in one && one.name.startsWith(row));
    return found && "value" in found ? Number(found.value) : undefined;
  }
  /** @param {string} subject */
  const medianOf = (subject) => {
    const found = rows.find(
      (one) => "subject" in one && one.subject === subject && one.metric === metric,
    );
    return found && "median" in found ? found.median : undefined;
  };
  const own = medianOf(row);
  const other = against === undefined ? 1 : medianOf(against);
  return own === undefined || other === undefined ? undefined : own / other;
}
