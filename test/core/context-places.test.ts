// What a tool is told of the places of its run: the list it is judged by, a parent's included.

import { compilePolicy, type ToolContext } from "@soong/core";
import { expect, it } from "vitest";
import { verifies } from "#laws";
import { createWorld, reader } from "./world.ts";

it("names as sensitive what is so to the run or to its parent", async () => {
  verifies("PATH-3", "PERM-12");
  const parent = compilePolicy({ sensitive_paths: ["*.vault"] });
  if (!parent.ok) throw new Error("the parent's policy does not compile");
  const told: unknown[] = [];
  const tool = reader("notes.read", 0, {
    handler(_input: unknown, { sensitiveBy, restrictedGlobs }: ToolContext) {
      told.push(
        new Set(restrictedGlobs("read")),
        ["/a.vault", "/b.own", "/c/.env", "/d.txt"].map(sensitiveBy),
      );
    },
  });
  const policy = { sensitive_paths: ["*.own"], ceiling: parent.policy };
  const world = await createWorld({ tools: [tool], policy });
  await world.execute({ id: "1", name: "notes.read", arguments: {} });
  expect(told).toEqual([
    new Set(["/**/*.own", "/**/*.own/**", "/**/*.vault", "/**/*.vault/**"]),
    ["*.vault", "*.own", ".env", undefined],
  ]);
});
