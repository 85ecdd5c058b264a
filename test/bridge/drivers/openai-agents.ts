// The OpenAI Agents SDK on the Responses API, with its own client.

import {
  Agent,
  OpenAIResponsesModel,
  RunState,
  run,
  setTracingDisabled,
  tool,
  type FunctionTool,
  type NonStreamRunOptions,
} from "@openai/agents";
import { bridgeOpenAiAgents } from "@soong/bridge/openai-agents";
import { OpenAI } from "openai";
import { openScenarioRun } from "../harness/open-scenario-run.ts";
import type { Driver, Play, Played, Scenario } from "../scenario.ts";

setTracingDisabled(true);

export const driver: Driver = {
  peer: "OpenAI Agents 0.20.0",
  async play(play) {
    return play.mode === "bare" ? playBare(play) : playBridge(play);
  },
};

interface Paused {
  /** Of a run that was paused; else it begins. */
  state?: RunState<undefined, Agent>;
}

interface Loop {
  readonly agent: Agent;
  readonly options: Pick<NonStreamRunOptions, "toolErrorFormatter" | "toolNotFoundBehavior">;
}

async function playBare(play: Play): Promise<Played> {
  const { scenario, url } = play;
  const progress: string[] = [];
  const agent = new Agent({
    name: "tester",
    model: openModel(url),
    tools: defineBareTools(scenario, progress),
  });
  const asked: string[] = [];
  const options = { toolNotFoundBehavior: "return_error_to_model" } as const;
  return { ...(await runLoop(play, asked, async () => ({ agent, options }))), facts: [] };
}

function defineBareTools(
  { tools, approval = "none" }: Scenario,
  progress: string[],
): FunctionTool[] {
  return tools.map(({ name, description, input_schema, effect, timeoutMs, run: execute }) =>
    tool({
      name: name.replaceAll(".", "__"),
      description,
      parameters: {
        properties: {},
        required: [],
        ...input_schema,
        type: "object",
        additionalProperties: true,
      },
      strict: false,
      needsApproval: effect === "write" && approval !== "none",
      ...(timeoutMs !== undefined && { timeoutMs }),
      execute: async (input, _context, details) =>
        execute(input as Parameters<typeof execute>[0], {
          signal: details?.signal ?? new AbortController().signal,
          progress: (message) => void progress.push(message),
        }),
    }),
  );
}

async function playBridge(play: Play): Promise<Played> {
  const { scenario, url } = play;
  const progress: string[] = [];
  const asked: string[] = [];
  const opened: Awaited<ReturnType<typeof openScenarioRun>>[] = [];
  const played = await runLoop(play, asked, async () => {
    const one = await openScenarioRun(scenario);
    opened.push(one);
    const soong = await bridgeOpenAiAgents(one.run, {
      ...(one.approvals && { approvals: one.approvals }),
      onProgress: ({ message = "" }) => void progress.push(message),
    });
    const agent = new Agent({
      name: "tester",
      model: soong.model(openModel(url)),
      tools: soong.tools,
    });
    return { agent, options: soong.runOptions };
  });
  for (const one of opened) one.run.end(played.end === "completed" ? "completed" : "aborted");
  return {
    ...played,
    asked: [...asked, ...opened.flatMap((one) => one.asked)],
    progress,
    facts: opened.flatMap(({ facts }) => facts),
  };
}

/** As its documentation shows: run, approve or reject what interrupts it, run on. */
async function runLoop(
  { scenario, signal }: Play,
  asked: string[],
  createLoop: () => Promise<Loop>,
): Promise<Omit<Played, "facts">> {
  let { agent, options } = await createLoop();
  const paused: Paused = {};
  try {
    for (;;) {
      const result = await start(agent, paused, { ...options, signal }, scenario.stream === true);
      if (result.interruptions.length === 0) break;
      const { state } = result;
      for (const item of result.interruptions) {
        const name = (item.name ?? "").replaceAll("__", ".");
        asked.push(name);
        if (scenario.approve?.includes(name) === true) state.approve(item);
        else state.reject(item);
      }
      paused.state = state;
      if (scenario.restart === true) {
        const saved = state.toString();
        ({ agent, options } = await createLoop());
        paused.state = await RunState.fromString(agent, saved);
      }
    }
    return { end: signal.aborted ? "aborted" : "completed", asked, progress: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { end: signal.aborted ? "aborted" : "failed", error: message, asked, progress: [] };
  }
}

async function start(
  agent: Agent,
  { state }: Paused,
  options: Omit<NonStreamRunOptions, "stream">,
  isStreamed: boolean,
) {
  if (!isStreamed) return run(agent, state ?? "go", options);
  const stream = await run(agent, state ?? "go", { ...options, stream: true });
  for await (const _event of stream);
  await stream.completed;
  return stream;
}

function openModel(url: string): OpenAIResponsesModel {
  const client = new OpenAI({ apiKey: "none", baseURL: `${url}/v1`, maxRetries: 0 });
  return new OpenAIResponsesModel(client, "scripted");
}
