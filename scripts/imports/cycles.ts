// Finds import cycles: at least one in every knot of files that import each other.

type Graph = ReadonlyMap<string, readonly string[]>;

export function findCycles(graph: Graph): string[][] {
  const finished = new Set<string>();
  const cycles: string[][] = [];
  for (const start of graph.keys()) walk(graph, start, [], finished, cycles);
  return cycles;
}

/** Depth first; a file met again on the way that led to it closes a cycle. */
function walk(
  graph: Graph,
  file: string,
  way: readonly string[],
  finished: Set<string>,
  cycles: string[][],
): void {
  const met = way.indexOf(file);
  if (met >= 0) {
    cycles.push([...way.slice(met), file]);
    return;
  }
  if (finished.has(file)) return;
  for (const next of graph.get(file) ?? []) walk(graph, next, [...way, file], finished, cycles);
  finished.add(file);
}
