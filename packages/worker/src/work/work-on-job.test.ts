import { digestDefinition, type AgentDefinition } from "@soong/agent";
import { SoongError } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { workOnJob, type WorkerHost } from "./work-on-job.ts";

const DEFINITION = {
  id: "builder",
  description: "Builds.",
  system: "Build.",
  roles: ["worker"],
  rules: [{ tool: "code.*", decision: "deny", origin: { file: "/here/builder.md", line: 3 } }],
  origin: { kind: "file", file: "/here/builder.md" },
} as const satisfies AgentDefinition;

async function refuse(): Promise<never> {
  throw new SoongError("session_unknown", "There is no such session.");
}

function stage(checkModel: WorkerHost["checkModel"]) {
  const lines: string[] = [];
  const unfit = new Set<string>();
  const host = {
    agents: { catalog: { definitions: new Map([["builder", DEFINITION]]) } },
    store: { heldSessions: async () => [], readSession: refuse },
    tasks: { reader: { get: async () => undefined } },
    checkModel,
    report: (line: string) => void lines.push(line),
  } as unknown as WorkerHost;
  const data = {
    pool: "builders",
    task_id: "task_1",
    step_id: "plan",
    agent_definition_id: "builder",
    definition_digest: digestDefinition({
      ...DEFINITION,
      rules: [{ tool: "code.*", decision: "deny", origin: { file: "/there/builder.md", line: 9 } }],
    }),
    model: "fast",
    from: { session_id: "s", run_id: "r", agent_id: "a", tool_call_id: "c" },
  };
  const deliver = () => workOnJob(host, { id: "j", data }, new AbortController().signal, unfit);
  return { lines, deliver };
}

test("a model that this machine does not have leaves the work to others, and is reported once", async () => {
  verifies("DIST-1");
  const { lines, deliver } = stage(async () => {
    throw new Error("There is no model fast.");
  });
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  expect(lines).toEqual(["The job j was left to others: There is no model fast."]);
});

test("where a definition was written does not matter; a dispatch that is gone is dropped", async () => {
  verifies("DIST-1");
  const { lines, deliver } = stage(async () => []);
  expect(await deliver()).toBe("done");
  expect(lines).toEqual([]);
});
