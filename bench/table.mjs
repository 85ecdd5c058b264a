// From rounds to rows, and from rows to text. The median is the figure; the minimum says what an
// undisturbed machine would give; quartiles say how far to trust either.

import { pairedRatio, summarise } from "./statistics.mjs";

/**
 * @import { Benchmark, ReportRow } from "./benchmarks/index.mjs"
 * @import { Outcome } from "./rounds.mjs"
 * @import { Series, Summary } from "./statistics.mjs"
 *
 * @typedef {object} MetricOfSubject
 * @property {string} subject
 * @property {string} metric
 * @property {string} unit
 * @property {Series} series
 * @property {number} [to_floor]  this subject / the floor
 * @property {number} [soong_to_this]  Soong / this subject
 *
 * @typedef {MetricOfSubject & Summary} Row
 */

/** @param {Benchmark} benchmark @param {Outcome[]} outcomes @returns {Row[]} */
export function rowsOf(benchmark, outcomes) {
  return benchmark.metrics.flatMap((metric) => {
    const series = new Map(
      outcomes.map(({ subject, rounds }) => [subject, rounds.map((round) => round[metric.id])]),
    );
    const floor = series.get(benchmark.floor ?? "");
    const soong = series.get(benchmark.ours ?? "soong");
    const isRatio = metric.unit === "×";
    return [...series].flatMap(([subject, values]) => {
      const summary = summarise(values);
      if (!summary) return [];
      const toFloor = isRatio ? undefined : pairedRatio(values, floor);
      const soongToThis = isRatio ? undefined : pairedRatio(soong, values);
      return {
        subject,
        metric: metric.id,
        unit: metric.unit,
        ...summary,
        series: values,
        ...(toFloor && { to_floor: toFloor }),
        ...(soongToThis && { soong_to_this: soongToThis }),
      };
    });
  });
}

/**
 * @param {Benchmark} benchmark @param {Row[]} rows @param {Outcome[]} outcomes
 * @param {(subject: string) => string} titleOf
 */
export function tableOf(benchmark, rows, outcomes, titleOf) {
  const lines = [benchmark.title];
  for (const metric of benchmark.metrics) {
    const cells = rows
      .filter((row) => row.metric === metric.id)
      .map((row) => [
        titleOf(row.subject),
        digits(row.median),
        digits(row.min),
        row.quartiles.map(digits).join(" – "),
        row.to_floor ? digits(row.to_floor) : "",
        row.soong_to_this ? digits(row.soong_to_this) : "",
      ]);
    if (cells.length === 0) continue;
    const head = [metric.title, metric.unit, "min", "quartiles", "× floor", "Soong / it"];
    lines.push("", ...align([head, ...cells]));
  }
  const notes = outcomes.flatMap((outcome) =>
    notesOf(outcome).map((note) => `${titleOf(outcome.subject)}: ${note}`),
  );
  if (notes.length > 0) lines.push("", ...notes.map((note) => `  ${note}`));
  return lines.join("\n");
}

/** @param {Outcome} outcome */
export function notesOf({ rounds, failure, remarks, lastRemarks = [] }) {
  const measured = rounds.length === 0 ? "not measured" : `failed after ${rounds.length} rounds`;
  return [...(failure ? [`${measured}: ${failure}`] : []), ...remarks, ...lastRemarks];
}

/** @param {string} title @param {ReportRow[]} rows */
export function reportOf(title, rows) {
  const cells = rows.map(({ name, value, unit = "", note = "" }) => [
    name,
    typeof value === "number" ? digits(value) : value,
    unit,
    note,
  ]);
  return [title, "", ...align(cells, ["left", "right", "left", "left"])].join("\n");
}

/** About three significant digits, no exponent. @param {number} value */
export function digits(value) {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en").replaceAll(",", " ");
  if (Math.abs(value) >= 0.1) return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
  return String(Number(value.toFixed(4)));
}

/** @param {string[][]} rows @param {("left" | "right")[]} [sides] */
function align(rows, sides = ["left"]) {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    `  ${row
      .map((cell, column) =>
        (sides[column] ?? "right") === "left"
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")}`.trimEnd(),
  );
}
