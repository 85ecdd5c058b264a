import { digestDefinition, type AgentDefinition, type WorkerPool } from "@soong/agent";
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

function stage(
  checkModel: WorkerHost["checkModel"] = async () => [],
  own: Partial<WorkerPool> = {},
  said: object = {},
) {
  const lines: string[] = [];
  const unfit = new Set<string>();
  const host = {
    agents: {
      catalog: { definitions: new Map([["builder", DEFINITION]]) },
      workers: { pools: [{ name: "builders", size: 1, ...own }] },
    },
    canonicalTool: (name: string) => (name === "glob" ? "code.list_dir" : name),
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
    ...said,
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
  const { lines, deliver } = stage();
  expect(await deliver()).toBe("done");
  expect(lines).toEqual([]);
});

test.each([
  [
    { allowed_tools: ["code.read_file"] },
    { allowed_tools: ["code.read_file", "code.run_command"] },
    "it allows code.run_command, and the pool builders has code.read_file at the most here.",
  ],
  [
    { allowed_tools: [] },
    { allowed_tools: ["code.*"] },
    "it allows code.*, and the pool builders has no tools at the most here.",
  ],
  [
    { agent_definition_id: "other" },
    {},
    "it is for the agent builder, and the pool builders has other here. Give all machines the same config, and start this worker again.",
  ],
])("what this machine says of its pool bounds any job (%j)", async (own, said, why) => {
  verifies("DIST-1");
  const { lines, deliver } = stage(undefined, own, said);
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  expect(lines).toEqual([`The job j was left to others: ${why}`]);
});

test("a tool by another name, and one of a pattern, are what the pool allows", async () => {
  verifies("DIST-1");
  const own = { allowed_tools: ["code.list_dir", "web.*"] };
  const { lines, deliver } = stage(undefined, own, { allowed_tools: ["glob", "web.fetch"] });
  expect(await deliver()).toBe("done");
  expect(lines).toEqual([]);
});

test("a job of another pool is dropped, and not delivered again and again", async () => {
  verifies("DIST-1");
  const { lines, deliver } = stage(undefined, {}, { pool: "others" });
  expect(await deliver()).toBe("done");
  expect(lines).toEqual(["The job j was dropped: it is for another pool."]);
});
