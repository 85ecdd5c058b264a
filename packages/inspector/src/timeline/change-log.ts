// What changed in which order. A reader that has seen everything up to a version gets what changed after it, each thing
// once and the longest unchanged first, without a look at the rest.

export function createChangeLog<Thing>() {
  const latest = new Map<Thing, number>();
  /** Ordered by version; entries whose thing changed again later are passed over, and cleared away in time. */
  let log: { thing: Thing; version: number }[] = [];
  let current = 0;

  return {
    /** Of the last change. */
    get version() {
      return current;
    },
    changed(thing: Thing): void {
      current += 1;
      latest.set(thing, current);
      log.push({ thing, version: current });
      if (log.length > 2 * latest.size + 1_000) log = log.filter(isLatest);
    },
    /** At most `limit` things. `version`: what has been seen with them. A version that never was is one of the beginning. */
    since(version: number, limit: number) {
      const isKnown = Number.isInteger(version) && version >= 0 && version <= current;
      const things: Thing[] = [];
      let seen = isKnown ? version : 0;
      for (let i = firstAfter(seen); i < log.length; i += 1) {
        const entry = log[i];
        if (entry === undefined || !isLatest(entry)) continue;
        if (things.length >= Math.max(1, limit)) return { things, version: seen, more: true };
        things.push(entry.thing);
        seen = entry.version;
      }
      return { things, version: current, more: false };
    },
  };

  function isLatest({ thing, version }: { thing: Thing; version: number }): boolean {
    return latest.get(thing) === version;
  }

  function firstAfter(version: number): number {
    let low = 0;
    let high = log.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((log[middle]?.version ?? 0) <= version) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
