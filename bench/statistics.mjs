// Medians, quartiles and ratios of what was measured in rounds.

/** @typedef {readonly (number | undefined)[]} Series  one figure a round, where there is one */

/** @typedef {{ rounds: number, median: number, min: number, quartiles: [number, number] }} Summary */

/** @param {Series} series @returns {Summary | undefined} undefined: no round has a figure */
export function summarise(series) {
  const sorted = series.filter((value) => value !== undefined).toSorted((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  const at = (/** @type {number} */ part) => {
    const position = (sorted.length - 1) * part;
    const low = /** @type {number} */ (sorted[Math.floor(position)]);
    const high = /** @type {number} */ (sorted[Math.ceil(position)]);
    return low + (high - low) * (position % 1);
  };
  return {
    rounds: sorted.length,
    median: at(0.5),
    min: at(0),
    quartiles: [at(0.25), at(0.75)],
  };
}

/** @param {Series} series */
export function median(series) {
  return summarise(series)?.median ?? Number.NaN;
}

/**
 * The median of the ratios of each round, not the ratio of the medians: two subjects measured within
 * the same second share the machine's mood.
 * @param {Series | undefined} above @param {Series | undefined} below
 * @returns {number | undefined} undefined: there is no round in which both were measured
 */
export function pairedRatio(above = [], below = []) {
  const ratios = above.map((value, round) => {
    const other = below[round];
    return value === undefined || other === undefined ? undefined : value / other;
  });
  return summarise(ratios)?.median;
}
