// Sessions for the tests of exports: one that a scripted model made, one whose call waits, and one with very many facts.

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Fact, FactType } from "@soong/core";
import { openStore } from "@soong/store";
import { recordsOf, type Ended, type Place, type Started } from "./cli-bundle.ts";

export const FORMATS = ["native", "agent-tool", "agent-runtime", "cloudevents", "otlp"] as const;

const createScript = (task: string): string => `turns:
  - text: Looking.
    calls:
      - { tool: code.list_dir, input: {} }
      - { tool: agent.create_sub_agent, input: { task: ${JSON.stringify(task)} } }
  - calls: [{ tool: code.write_file, input: { path: a.txt, content: a } }]
  - text: Done.
agents:
  default_sub_agent: [[{ calls: [{ tool: code.list_dir, input: {} }] }, { text: One. }]]
`;

/** A conversation with a child agent and a call that is denied. Resolves to its session and its run. */
export async function playSession(place: Place, task = "Count the files.") {
  await place.write("s.yaml", createScript(task));
  const ended = await place.run(["run", "--model", "script:s.yaml", "--json", "go"]);
  const facts = readLines(ended);
  const root = facts.find(({ type }) => type === "run.started");
  if (root === undefined) throw new Error(ended.stderr);
  return { session_id: String(root["session_id"]), run_id: String(root["run_id"]), facts };
}

export const readLines = recordsOf;

/** A call that runs until the file `go` is there. */
export async function startWaitingCall(place: Place): Promise<Started & { run_id: string }> {
  const script = "touch begun; while [ ! -e go ]; do sleep 0.05; done";
  const input = JSON.stringify({ argv: ["sh", "-c", script] });
  const started = place.start(["call", "code.run_command", input, "--yes", "--json"]);
  const runs = join(place.home, "runs");
  const find = async (): Promise<string | undefined> =>
    existsSync(runs) && existsSync(join(place.project, "begun"))
      ? (await readdir(runs))[0]
      : undefined;
  for (;;) {
    const run_id = await find();
    if (run_id !== undefined) return { ...started, run_id };
    if (started.child.exitCode !== null) throw new Error((await started.ended).stderr);
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

/** Resolves once stdout has such a text. */
export function untilPrinted({ child, ended }: Started, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = "";
    child.stdout?.on("data", (part: string) => {
      printed += part;
      if (printed.includes(text)) resolve();
    });
    void ended.then(({ stdout, stderr }: Ended) =>
      stdout.includes(text) ? resolve() : reject(new Error(`${text} was not printed: ${stderr}`)),
    );
  });
}

const CALL: readonly FactType[] = [
  "tool.requested",
  "tool.validated",
  "permission.evaluated",
  "tool.queued",
  "tool.started",
  "tool.completed",
  "tool.yielded",
];

/** The facts of so many calls, all in one run. */
export function* factsOfCalls(session_id: string, calls: number): Generator<Fact, undefined> {
  let seq = 0;
  const about = { session_id, run_id: "run_big", agent_id: "agent_big", level: "info" };
  const create = (type: FactType, more: object): Fact => {
    seq += 1;
    const time = new Date(1_700_000_000_000 + seq).toISOString();
    return { id: `f${seq}`, seq, run_seq: seq, type, time, ...about, ...more } as Fact;
  };
  yield create("run.started", { data: { role: "main", mode: "normal" } });
  for (let call = 1; call <= calls; call += 1) {
    const own = { tool_call_id: `call_${call}`, tool_name: "demo.read" };
    const result = {
      ...own,
      status: "succeeded",
      is_error: false,
      summary: "read",
      content: [{ type: "text", text: "x".repeat(300) }],
      metadata: { duration_ms: 1 },
    };
    for (const type of CALL) {
      yield create(type, { ...own, data: dataOf(type, call, result) });
    }
  }
  yield create("run.completed", { data: { reason: "completed" } });
  return undefined;
}

function dataOf(type: FactType, call: number, result: object): object {
  switch (type) {
    case "tool.requested":
      return { index: 0, model_input: { path: `src/file-${call}.ts` } };
    case "tool.validated":
      return { effects: { permission: "readonly" } };
    case "permission.evaluated":
      return { decision: "allow", reason: "It only reads.", layer: "defaults" };
    case "tool.completed":
      return { result };
    default:
      return {};
  }
}

/** Stored as a session of the home. Resolves to how many facts it has. */
export async function storeManyFacts(
  { home, project }: Place,
  session_id: string,
  calls: number,
): Promise<number> {
  const store = await openStore({ directory: home });
  const { journal } = await store.createSession({ session_id, project });
  let count = 0;
  let page: Fact[] = [];
  for (const fact of factsOfCalls(session_id, calls)) {
    count += 1;
    page.push(fact);
    if (page.length < 1000) continue;
    journal.append({ facts: page });
    page = [];
    await journal.flush();
  }
  journal.append({ facts: page });
  await store.close();
  return count;
}
