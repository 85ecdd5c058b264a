// The part of the demo that dies: goes on with a session, starts a command, and is killed in the middle of
// it, as by a power cut. `node scripts/run.mjs scripts/demo-killed.ts HOME SESSION PROJECT`.

import { existsSync, watch } from "node:fs";
import { join } from "node:path";
import { createKernel } from "@soong/core";
import { openStore } from "@soong/store";
import { codeTools } from "@soong/tools";

const [home = "", session_id = "", project = ""] = process.argv.slice(2);
const store = await openStore({ directory: home });
const kernel = createKernel({ tools: codeTools({ lockDirectory: join(home, "locks") }) });
const run = await kernel.startRun({
  ...(await store.openSession(session_id)),
  roots: { project, write: [] },
  ask: () => ({ decision: "allow_once" }),
});
watch(project, () => {
  if (existsSync(join(project, "half-done"))) process.kill(process.pid, "SIGKILL");
});
await run.execute([
  {
    id: "killed",
    name: "code.run_command",
    arguments: { argv: ["sh", "-c", "touch half-done; sleep 60"] },
  },
  { id: "never", name: "code.write_file", arguments: { path: "after.txt", content: "after" } },
]);
