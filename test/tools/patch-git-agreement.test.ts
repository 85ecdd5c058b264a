// What EDIT-3 refuses on purpose is not among the cases: renames, copies, deletions (/dev/null after),
// mode changes, binary patches, patches of two files or with two headers. Three things are omitted
// because git has no such case: hunks without a header, encodings other than UTF-8, line numbers past 2^31.

import { expect, test } from "vitest";
import { verifies } from "#laws";
import { expectAgreement } from "./patch-agreement.ts";
import { largeCase, madeUpCase, ordinaryCase } from "./patch-cases.ts";

test("patches a diff program makes apply as git applies them, also to a file changed since", async () => {
  verifies("EDIT-3");
  const { applied, refused } = await expectAgreement(800, ordinaryCase);
  expect(applied).toBeGreaterThan(400);
  expect(refused).toBeGreaterThan(50);
});

test("made-up hunks with any numbers and any lines go where git puts them", async () => {
  verifies("EDIT-3");
  const { applied, refused } = await expectAgreement(500, madeUpCase);
  expect(applied).toBeGreaterThan(80);
  expect(refused).toBeGreaterThan(150);
});

test("among many equal lines the place nearest to the expected one is taken, as by git", async () => {
  verifies("EDIT-3");
  const { applied, refused } = await expectAgreement(200, largeCase);
  expect(applied).toBeGreaterThan(70);
  expect(refused).toBeGreaterThan(20);
});
