import fc from "fast-check";
import { expect, test } from "vitest";
import { createIntegerLists } from "./integer-lists.ts";

const LISTS = 6;

test("holds what plain arrays would after any sequence of changes", () => {
  const list = fc.nat({ max: LISTS - 1 });
  const change = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant("append" as const), list, key: fc.nat({ max: 30 }) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("remove" as const), list, key: fc.nat({ max: 30 }) }),
    },
    fc.record({
      do: fc.constant("assign" as const),
      list,
      values: fc.array(fc.integer(), { maxLength: 40 }),
    }),
    fc.record({ do: fc.constant("clear" as const), list }),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      const lists = createIntegerLists();
      const model: number[][] = Array.from({ length: LISTS }, () => []);
      for (const [at, next] of changes.entries()) {
        const plain = model[next.list] ?? [];
        if (next.do === "append") {
          lists.appendPair(next.list, next.key, at);
          plain.push(next.key, at);
        } else if (next.do === "remove") {
          lists.removePair(next.list, next.key);
          removePair(plain, next.key);
        } else {
          const values = next.do === "assign" ? next.values.slice(0, next.values.length & ~1) : [];
          if (next.do === "assign") lists.assign(next.list, values);
          else lists.clear(next.list);
          model[next.list] = [...values];
        }
      }
      for (let each = 0; each < LISTS; each += 1) {
        const from = lists.start(each);
        const held = lists.data.slice(from, from + lists.length(each));
        expect(Array.from(held)).toEqual(model[each]);
      }
    }),
  );
});

test("gives the place of a list that grew or went to the next one", () => {
  const lists = createIntegerLists();
  for (let round = 0; round < 1_000; round += 1) {
    for (let each = 0; each < 50; each += 1) lists.appendPair(0, each, round);
    lists.clear(0);
  }
  expect(lists.data.length).toBeLessThan(1_000);
});

function removePair(pairs: number[], key: number): void {
  for (let at = 0; at < pairs.length; at += 2) {
    if (pairs[at] !== key) continue;
    const last = pairs.splice(-2);
    if (at < pairs.length) pairs.splice(at, 2, ...last);
    return;
  }
}
