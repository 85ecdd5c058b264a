import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "../src/total.mjs";

await test("things are added up", () => {
  assert.equal(
    total([
      { price: 120, quantity: 2 },
      { price: 80, quantity: 1 },
    ]),
    320,
  );
});

await test("ten of a thing cost a tenth less", () => {
  assert.equal(total([{ price: 50, quantity: 10 }]), 450);
});
