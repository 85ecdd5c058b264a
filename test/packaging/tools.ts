// What a user does first with the installed package: a kernel with the built-in tools, one call of each kind.

import { createKernel } from "@soong/core";
import { codeTools } from "@soong/tools";

const kernel = createKernel({ tools: codeTools({ lockDirectory: "./locks" }) });
const run = await kernel.startRun({
  roots: { project: process.cwd(), write: [] },
  policy: { rules: [{ tool: "code.*", decision: "allow" }] },
  ask: () => ({ decision: "allow_once" }),
});
const results = await run.execute([
  { id: "1", name: "code.write_file", arguments: { path: "note.txt", content: "helo\n" } },
  {
    id: "2",
    name: "code.edit_file",
    arguments: { path: "note.txt", edits: [{ old: "helo", new: "hello" }] },
  },
  { id: "3", name: "code.search", arguments: { query: "hel+o" } },
  { id: "4", name: "code.run_command", arguments: { argv: ["cat", "note.txt"] } },
]);
for (const { status, summary } of results) {
  if (status !== "succeeded") throw new Error(`unexpected result: ${status} ${summary}`);
}
const [, , , shown] = results;
if (!JSON.stringify(shown?.content).includes("hello")) throw new Error("the file is not as edited");
