import { createKernel, defineTool } from "@soong/core";
import { expect, test } from "vitest";
import { readOfferedNames } from "./offered-names.ts";

test("a tool is meant by its wire name, its canonical name and its aliases", async () => {
  const tool = defineTool({
    name: "notes.read",
    aliases: ["notes.get"],
    description: "Read a note",
    input_schema: { type: "object" },
    permission: "readonly",
    handler: () => "a note",
  });
  const run = await createKernel({ tools: [tool] }).startRun();
  const { loaded, findWireName } = await readOfferedNames(run);
  expect(loaded).toContain("notes__read");
  for (const name of ["notes__read", "notes.read", "notes.get"]) {
    expect(findWireName(name)).toBe("notes__read");
  }
  expect(findWireName("notes__reed")).toBeUndefined();
});
