// REPLAY-1 across the change of order (PIPE-1): records with one judgement after planning, and records with one of the
// targets and one of the plan.

import {
  createKernel,
  createMemoryArtifacts,
  createMemoryJournal,
  defineHook,
  defineTool,
  sha256Hex,
  ToolFailure,
  type Fact,
} from "@soong/core";
import { replayRun, createReplaySource } from "@soong/replay";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { factsOfTypes } from "../facts.ts";

type Planned = {
  resources: { kind: "path"; access: "write"; path: string }[];
  destructive?: boolean;
};

function plan({ path }: { path?: string }): Planned {
  if (path === "/p/missing") {
    throw new ToolFailure({ code: "file_not_found", message: "not there", recovery: "none" });
  }
  return { resources: [{ kind: "path", access: "write", path: path ?? "/p/x" }] };
}

/** A run of calls that are allowed, asked about, guarded and that cannot be planned. */
async function recorded(shape: "targets" | "prepare" | "both") {
  const journal = createMemoryJournal();
  const artifacts = createMemoryArtifacts();
  const named = ({ path }: { path?: string }): Planned => ({
    resources: [{ kind: "path", access: "write", path: path ?? "/p/x" }],
  });
  const edit = defineTool({
    name: "a.edit",
    description: "Edit",
    input_schema: { type: "object", properties: { path: { type: "string" } } },
    ...(shape === "targets" ? { targets: plan } : { prepare: plan }),
    ...(shape === "both" ? { targets: named } : {}),
    handler: () => "edited",
  });
  const run = await createKernel({ tools: [edit] }).startRun({
    journal,
    artifacts,
    roots: { project: "/p", write: [] },
    policy: { rules: [{ path: "free/**", decision: "allow" }] },
    hooks: [
      defineHook({
        id: "guard",
        event: "PreToolUse",
        run: ({ input }) =>
          (input as { path?: string }).path === "/p/no" ? { decision: "deny", reason: "no" } : {},
      }),
    ],
    ask: ({ arguments: input }) => ({
      decision: (input as { path?: string }).path === "/p/never" ? "deny" : "allow_once",
    }),
  });
  const paths = ["/p/a", "/p/free/a", "/p/missing", "/p/no", "/p/never", "/p/free/b"];
  for (const path of paths) await run.call("a.edit", { path });
  run.end("completed");
  return { journal, artifacts, run_id: run.identity.run_id };
}

test.each(["targets", "prepare", "both"] as const)(
  "a record of a tool with %s decides the same again",
  async (shape) => {
    verifies("REPLAY-1", "PIPE-1");
    const { journal, artifacts, run_id } = await recorded(shape);
    const report = await replayRun({ source: createReplaySource(journal, artifacts), run_id });
    expect(report).toMatchObject({ outcome: "same", calls: 6, left_out: [] });
  },
);

/** As it was written when planning came first: the facts of a tool with targets alone, said of one that prepares. */
test("a record of the time when planning came first decides the same again", async () => {
  verifies("REPLAY-1");
  const { journal, artifacts, run_id } = await recorded("targets");
  const started = journal.facts.find((fact) => fact.type === "run.started");
  if (started === undefined) throw new Error("nothing began");
  const { artifact_id } = started.data.definitions!;
  const bytes = await artifacts.read(artifact_id);
  const text = new TextDecoder()
    .decode(bytes)
    .replace('"functions":["targets"]', '"functions":["prepare"]');
  expect(text).toContain('["prepare"]');
  const older = await artifacts.write(text, {
    media_type: "application/json",
    session_id: started.session_id,
    run_id,
  });
  expect(older.sha256).toBe(sha256Hex(text));
  const { sha256, artifact_id: id } = older;
  const facts = journal.facts.map((fact): Fact => {
    if (fact.type !== "run.started" && fact.type !== "tool.catalog.resolved") return fact;
    const { definitions } = fact.data;
    if (definitions === undefined) return fact;
    const data = { ...fact.data, definitions: { ...definitions, artifact_id: id, sha256 } };
    return { ...fact, data } as Fact;
  });
  expect(factsOfTypes(facts, "permission.evaluated").some(({ data }) => data.stage)).toBe(false);
  const kept = createReplaySource({ facts, nodes: journal.nodes }, artifacts);
  expect(await replayRun({ source: kept, run_id })).toMatchObject({
    outcome: "same",
    calls: 6,
    left_out: [],
  });
});
