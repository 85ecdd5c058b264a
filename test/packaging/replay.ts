// What a user does first with the installed package: decide a recorded run again.

import { createKernel, createMemoryJournal, defineTool } from "@soong/core";
import { replayRun, createReplaySource } from "@soong/replay";

const journal = createMemoryJournal();
const greet = defineTool({
  name: "demo.greet",
  description: "Greet",
  input_schema: { type: "object", properties: {} },
  permission: "readonly",
  handler: () => "hello",
});
const run = await createKernel({ tools: [greet] }).startRun({ journal });
await run.call("demo.greet", {});
run.end("completed");
const source = createReplaySource(journal, run.session.artifacts);
const { outcome } = await replayRun({ source, run_id: run.identity.run_id });
if (outcome !== "same") throw new Error(outcome);
