import { verifies } from "#laws";
import { createKernel, defineTool } from "@soong/core";
import { expect, test } from "vitest";
import { listTools, loadedNames } from "./list-tools.ts";

test("deferred tools are listed behind the loaded ones, and are loaded by a search", async () => {
  verifies("MODEL-6");
  const run = await startRun();
  const listed = await listTools(run);
  expect(listed.map(({ name, is_loaded }) => [name, is_loaded])).toEqual([
    ["internal__search_tools", true],
    ["notes__read", true],
    ["notes__archive", false],
  ]);
  expect(listed[2]).toMatchObject({
    description: "Archive a note",
    input_schema: { type: "object", required: ["id"] },
  });
  expect(await loadedNames(run)).not.toContain("notes__archive");
  await run.execute([
    { id: "c1", name: "internal__search_tools", arguments: '{"query":"archive"}' },
  ]);
  expect(await loadedNames(run)).toContain("notes__archive");
});

test("the tool that searches names what it can load", async () => {
  const [search] = await listTools(await startRun());
  expect(search?.description).toContain("Tools that it can load:\nnotes__archive: put away");
});

test("without deferred tools nothing is added", async () => {
  const run = await createKernel({ tools: [defineNote("read", {})] }).startRun();
  expect(await listTools(run)).toMatchObject([{ name: "notes__read", description: "Read a note" }]);
});

function startRun() {
  const archive = defineNote("archive", { defer: true, search_hint: "put away" });
  return createKernel({ tools: [defineNote("read", {}), archive] }).startRun();
}

function defineNote(verb: string, more: { defer?: boolean; search_hint?: string }) {
  return defineTool({
    name: `notes.${verb}`,
    description: `${verb[0]?.toUpperCase()}${verb.slice(1)} a note`,
    input_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
    permission: "readonly",
    handler: () => "done",
    ...more,
  });
}
