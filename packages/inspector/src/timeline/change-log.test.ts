import { expect, it } from "vitest";
import { createChangeLog } from "./change-log.ts";

it("loses no change to readers of any pace, however often the same things change", () => {
  const log = createChangeLog<number>();
  const last = new Map<number, number>();
  const readers = [1, 7, 1300].map((every) => ({
    every,
    version: 0,
    seen: new Map<number, number>(),
  }));
  for (let i = 1; i <= 6000; i += 1) {
    // One of them changes only once.
    const thing = i === 1 ? 99 : (i * i) % 11;
    log.changed(thing);
    last.set(thing, i);
    for (const reader of readers) if (i % reader.every === 0) read(reader);
  }
  for (const reader of readers) {
    read(reader);
    expect(reader.seen, `one that looks every ${reader.every} changes`).toEqual(last);
    expect(log.since(reader.version, 3)).toEqual({ things: [], version: 6000, more: false });
  }
  expect(log.since(0, 100).things.length).toBe(last.size);

  function read(reader: (typeof readers)[number]): void {
    for (let more = true; more;) {
      const changes = log.since(reader.version, 3);
      expect(changes.things.length).toBeLessThanOrEqual(3);
      for (const thing of changes.things) reader.seen.set(thing, last.get(thing) ?? 0);
      ({ version: reader.version, more } = changes);
    }
  }
});
