// Artifacts of what is restricted by now (PERM-15): a rule that was added after a call, in a later run or for a child, holds
// for what the call left behind. What was restricted all along was heeded by the call, and is not asked about again.

import { compilePolicy, type PermissionRule, type RunOptions, type ToolResult } from "@soong/core";
import { resolvePathNow } from "@soong/tools";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { allowCode, createWorkbench, type Workbench } from "./workbench.ts";

const LINES = "swordfish\n".repeat(2_000);

async function bench(rules: readonly PermissionRule[] = []): Promise<Workbench> {
  const made = await createWorkbench({
    rules: [...allowCode, ...rules],
    ask: () => ({ decision: "deny" }),
    session: { resolvePath: (path) => resolvePathNow("/", path) },
    inlineLimitBytes: 2_000,
  });
  onTestFinished(() => made.close());
  await made.write("config/secrets/db", LINES);
  await made.write("src/a.txt", LINES);
  return made;
}

/** The first artifact of a call's result. */
function artifactOf({ artifacts, error }: ToolResult): string {
  const [first] = artifacts;
  if (first === undefined) throw new Error(`no artifact: ${error?.message ?? ""}`);
  return first.artifact_id;
}

async function readIn(made: Workbench, artifact_id: string, options: RunOptions) {
  const run = await made.session.startRun(options);
  onTestFinished(() => run.end("completed"));
  return run.call("internal.read_artifact", { artifact_id });
}

const WAYS: [string, string, object][] = [
  ["a command that names it", "code.run_command", { argv: ["cat", "config/secrets/db"] }],
  [
    "a command in its directory",
    "code.run_command",
    { argv: ["cat", "db"], cwd: "config/secrets" },
  ],
  ["a search of it", "code.search", { query: "fish", path: "config/secrets", limit: 500 }],
];

test.each(WAYS)("a deny that came later holds for the artifact of %s", async (_, name, input) => {
  verifies("PERM-15");
  const made = await bench();
  const artifact_id = artifactOf(await made.call(name, input));
  const unrestricted = await readIn(made, artifact_id, {});
  expect(unrestricted.status).toBe("succeeded");
  const rules: PermissionRule[] = [{ path: "config/secrets", decision: "deny" }];
  const denied = await readIn(made, artifact_id, { policy: { rules } });
  expect([denied.status, made.asked.length]).toEqual(["denied", 0]);
  const asking: PermissionRule[] = [{ path: "config/secrets", decision: "ask" }];
  const asked = await readIn(made, artifact_id, { policy: { rules: asking } });
  expect([asked.status, made.asked.length]).toEqual(["rejected", 1]);
  expect(JSON.stringify([denied, asked])).not.toContain("swordfish");
});

test("a child's own deny holds for what its parent left", async () => {
  verifies("PERM-15", "PERM-12");
  const made = await bench();
  const artifact_id = artifactOf(
    await made.call("code.run_command", { argv: ["cat", "config/secrets/db"] }),
  );
  const above = compilePolicy({ rules: allowCode, roots: { project: made.project, write: [] } });
  if (!above.ok) throw new Error("the parent's policy does not compile");
  const result = await readIn(made, artifact_id, {
    policy: { rules: [{ path: "config/secrets", decision: "deny" }] },
    parent: { run_id: "run_above", agent_id: "agent_above", policy: above.policy },
  });
  expect(result.status).toBe("denied");
});

test("a walk that may have read it requires approval, and what came from elsewhere does not", async () => {
  verifies("PERM-15");
  const made = await bench();
  const walked = artifactOf(await made.call("code.search", { query: "fish", limit: 500 }));
  const plain = artifactOf(await made.call("code.run_command", { argv: ["cat", "src/a.txt"] }));
  const policy = { rules: [{ path: "config/secrets", decision: "deny" as const }] };
  expect((await readIn(made, plain, { policy })).status).toBe("succeeded");
  expect(made.asked).toEqual([]);
  expect((await readIn(made, walked, { policy })).status).toBe("rejected");
  expect(made.asked).toHaveLength(1);
});

test("what was restricted when the call ran needs no second approval", async () => {
  verifies("PERM-15");
  const made = await bench([{ path: "config/secrets", decision: "deny" }]);
  const artifact_id = artifactOf(await made.call("code.search", { query: "fish", limit: 500 }));
  expect((await made.call("internal.read_artifact", { artifact_id })).status).toBe("succeeded");
  expect((await readIn(made, artifact_id, {})).status).toBe("succeeded");
  expect(made.asked).toEqual([]);
});
