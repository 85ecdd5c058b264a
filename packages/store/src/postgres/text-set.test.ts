import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createTextSet } from "./text-set.ts";

test("has the texts it was made of, and no other", () => {
  verifies("STORE-2");
  const text = fc.oneof(
    fc.string({ unit: "grapheme" }).map((given) => given.replaceAll("\u0001", "")),
    fc.stringMatching(/^node_[ab]{0,3}$/),
  );
  fc.assert(
    fc.property(fc.uniqueArray(text, { minLength: 1 }), fc.array(text), (kept, others) => {
      const set = createTextSet(kept.join("\u0001"), "\u0001", kept.length);
      for (const one of kept) expect(set.has(one)).toBe(true);
      for (const one of others) expect(set.has(one)).toBe(kept.includes(one));
      expect(set.has(kept.join("\u0001"))).toBe(kept.length === 1);
    }),
  );
});
