// Mastra's agent on an OpenAI-compatible provider. What it pauses with is in a database, as its documentation requires.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent, type ToolsInput } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { LibSQLStore } from "@mastra/libsql";
import { bridgeMastra, type MastraBridge } from "@soong/bridge/mastra";
import { openScenarioRun } from "../harness/open-scenario-run.ts";
import type { Driver, Play, Played, Scenario } from "../scenario.ts";

export const driver: Driver = {
  peer: "Mastra 1.71.0",
  async play(play) {
    const directory = await mkdtemp(join(tmpdir(), "soong-mastra-"));
    try {
      return await (play.mode === "bare" ? playBare(play, directory) : playBridge(play, directory));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

interface Loop {
  readonly tools: ToolsInput;
  readonly options?: MastraBridge["options"];
}

async function playBare(play: Play, directory: string): Promise<Played> {
  const tools = defineBareTools(play.scenario);
  return { ...(await runLoop(play, directory, async () => ({ tools }))), facts: [] };
}

function defineBareTools({ tools, approval = "none" }: Scenario): ToolsInput {
  return Object.fromEntries(
    tools.map(({ name, description, input_schema, effect, run }) => {
      const id = name.replaceAll(".", "__");
      const tool = createTool({
        id,
        description,
        inputSchema: input_schema,
        requireApproval: effect === "write" && approval !== "none",
        execute: async (input, { abortSignal, writer }) =>
          run(input as Parameters<typeof run>[0], {
            signal: abortSignal ?? new AbortController().signal,
            progress: (message) => void writer?.write({ message }),
          }),
      });
      return [id, tool];
    }),
  );
}

async function playBridge(play: Play, directory: string): Promise<Played> {
  const opened: Awaited<ReturnType<typeof openScenarioRun>>[] = [];
  const played = await runLoop(play, directory, async () => {
    const one = await openScenarioRun(play.scenario);
    opened.push(one);
    return bridgeMastra(one.run, one.approvals ? { approvals: one.approvals } : {});
  });
  for (const one of opened) one.run.end(played.end === "completed" ? "completed" : "aborted");
  return {
    ...played,
    asked: [...played.asked, ...opened.flatMap((one) => one.asked)],
    facts: opened.flatMap(({ facts }) => facts),
  };
}

/** As its documentation shows: generate or stream, then approve or decline each call that it pauses at. */
async function runLoop(
  { scenario, url, signal }: Play,
  directory: string,
  createLoop: () => Promise<Loop>,
): Promise<Omit<Played, "facts">> {
  const asked: string[] = [];
  const progress: string[] = [];
  let agent = openAgent(scenario, url, directory, await createLoop());
  let next: Promise<Paused | undefined> = generate("go");
  try {
    for (;;) {
      const paused = await next;
      if (paused === undefined) break;
      const name = paused.toolName.replaceAll("__", ".");
      asked.push(name);
      if (scenario.restart === true) {
        agent = openAgent(scenario, url, directory, await createLoop());
      }
      next = answer(paused, scenario.approve?.includes(name) === true);
    }
    return { end: signal.aborted ? "aborted" : "completed", asked, progress };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { end: signal.aborted ? "aborted" : "failed", error: message, asked, progress };
  }

  async function generate(prompt: string): Promise<Paused | undefined> {
    return scenario.stream === true
      ? readStream(await agent.stream(prompt, listOptions()), progress)
      : readOutput(await agent.generate(prompt, listOptions()));
  }

  async function answer(
    { runId, toolCallId }: Paused,
    isApproved: boolean,
  ): Promise<Paused | undefined> {
    const given = { ...listOptions(), runId, toolCallId };
    if (scenario.stream === true) {
      return readStream(
        await (isApproved ? agent.approveToolCall(given) : agent.declineToolCall(given)),
        progress,
      );
    }
    return readOutput(
      await (isApproved
        ? agent.approveToolCallGenerate(given)
        : agent.declineToolCallGenerate(given)),
    );
  }

  function listOptions() {
    return { maxSteps: 20, abortSignal: signal };
  }
}

interface Paused {
  readonly runId: string;
  readonly toolCallId: string;
  readonly toolName: string;
}

function readOutput(output: Awaited<ReturnType<Agent["generate"]>>): Paused | undefined {
  if (output.error !== undefined) throw output.error;
  if (output.finishReason !== "suspended") return undefined;
  const { toolCallId, toolName } = output.suspendPayload as Paused;
  return { runId: output.runId ?? "", toolCallId, toolName };
}

async function readStream(
  stream: Awaited<ReturnType<Agent["stream"]>>,
  progress: string[],
): Promise<Paused | undefined> {
  let paused: Paused | undefined;
  for await (const chunk of stream.fullStream) {
    if (chunk.type === "tool-call-approval") {
      const { toolCallId, toolName } = chunk.payload;
      paused ??= { runId: stream.runId, toolCallId, toolName };
    }
    if (chunk.type === "tool-output") {
      const { message } = chunk.payload.output as { message?: string };
      if (message !== undefined) progress.push(message);
    }
    if (chunk.type === "error") throw chunk.payload.error;
  }
  return paused;
}

function openAgent(
  { approval }: Scenario,
  url: string,
  directory: string,
  { tools, options }: Loop,
): Agent {
  const provider = createOpenAICompatible({ name: "scripted", baseURL: `${url}/v1` });
  const agent = new Agent({
    id: "tester",
    name: "tester",
    instructions: "go",
    model: provider("scripted"),
    maxRetries: 0,
    tools,
    ...(options && { defaultOptions: options }),
  });
  const storage =
    approval === undefined || approval === "none"
      ? new InMemoryStore()
      : new LibSQLStore({ id: "tester", url: `file:${join(directory, "mastra.db")}` });
  return new Mastra({ agents: { tester: agent }, storage, logger: false }).getAgent("tester");
}
