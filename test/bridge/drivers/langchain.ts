// LangChain's agent on OpenAI's chat completions, with its own client for them.

import { deserialize, serialize } from "node:v8";
import { Command, MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { bridgeLangChain } from "@soong/bridge/langchain";
import {
  createAgent,
  humanInTheLoopMiddleware,
  tool,
  type HITLRequest,
  type HITLResponse,
  type ToolRuntime,
} from "langchain";
import { openScenarioRun, type ScenarioRun } from "../harness/open-scenario-run.ts";
import type { Driver, Play, Played, Scenario } from "../scenario.ts";

export const driver: Driver = {
  peer: "LangChain 1.5.14",
  async play(play) {
    return play.mode === "bare" ? playBare(play) : playBridge(play);
  },
};

async function playBare(play: Play): Promise<Played> {
  const { scenario, url } = play;
  const { tools, approval = "none" } = scenario;
  const approved = approval === "none" ? [] : tools.filter(({ effect }) => effect === "write");
  const interruptOn = Object.fromEntries(
    approved.map(({ name }) => [
      wireName(name),
      { allowedDecisions: ["approve" as const, "reject" as const] },
    ]),
  );
  const played = await runLoop(play, async (checkpointer) =>
    createAgent({
      model: openModel(url, scenario),
      tools: defineBareTools(scenario),
      middleware: [humanInTheLoopMiddleware({ interruptOn })],
      checkpointer,
    }),
  );
  return { ...played, facts: [] };
}

function defineBareTools({ tools }: Scenario) {
  return tools.map(({ name, description, input_schema, run }) =>
    tool(
      async (input, config: ToolRuntime) =>
        run(input as Parameters<typeof run>[0], {
          signal: config.signal ?? new AbortController().signal,
          progress: (message) => config.writer?.({ message }),
        }),
      { name: wireName(name), description, schema: input_schema },
    ),
  );
}

async function playBridge(play: Play): Promise<Played> {
  const { scenario, url } = play;
  const opened: ScenarioRun[] = [];
  const played = await runLoop(play, async (checkpointer) => {
    const one = await openScenarioRun(scenario);
    opened.push(one);
    const soong = await bridgeLangChain(one.run, {
      ...(one.approvals && { approvals: one.approvals }),
    });
    return createAgent({
      model: openModel(url, scenario),
      tools: soong.tools,
      middleware: [soong.middleware],
      checkpointer,
    });
  });
  for (const { run } of opened) run.end(played.end);
  return {
    ...played,
    asked: [...played.asked, ...opened.flatMap(({ asked }) => asked)],
    facts: opened.flatMap(({ facts }) => facts),
  };
}

type AgentInput = Parameters<ReturnType<typeof createAgent>["stream"]>[0];

/** As its documentation shows: stream, answer what interrupts it, continue. */
async function runLoop(
  { scenario, signal }: Play,
  openAgent: (checkpointer: MemorySaver) => Promise<ReturnType<typeof createAgent>>,
): Promise<Omit<Played, "facts">> {
  const asked: string[] = [];
  const progress: string[] = [];
  const config = { configurable: { thread_id: "one" }, signal };
  let checkpointer = new MemorySaver();
  let agent = await openAgent(checkpointer);
  let input: AgentInput = { messages: [{ role: "user", content: "go" }] };
  try {
    for (;;) {
      const stream = await agent.stream(input, {
        ...config,
        streamMode: ["custom", ...(scenario.stream === true ? ["messages" as const] : [])],
      });
      for await (const [mode, chunk] of stream as AsyncIterable<[string, unknown]>) {
        if (mode === "custom") progress.push((chunk as { message?: string }).message ?? "");
      }
      const { tasks } = await agent.graph.getState(config);
      const interrupts = tasks.flatMap((task) => task.interrupts);
      if (interrupts.length === 0) break;
      const answers = interrupts.map(({ id, value }) => {
        const { actionRequests } = value as HITLRequest;
        asked.push(...actionRequests.map(({ name }) => canonicalName(name)));
        return [id, answerAs(scenario, actionRequests)] as const;
      });
      if (scenario.restart === true) {
        checkpointer = reopen(checkpointer);
        agent = await openAgent(checkpointer);
      }
      input = new Command({ resume: Object.fromEntries(answers) });
    }
    return { end: "completed", asked, progress };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { end: signal.aborted ? "aborted" : "failed", error: message, asked, progress };
  }
}

function answerAs(
  { approve = [] }: Scenario,
  actions: HITLRequest["actionRequests"],
): HITLResponse {
  return {
    decisions: actions.map(({ name }) =>
      approve.includes(canonicalName(name))
        ? { type: "approve" }
        : { type: "reject", message: "the user said no" },
    ),
  };
}

/** A checkpointer on what another one has written out. */
function reopen(before: MemorySaver): MemorySaver {
  const { storage, writes } = before;
  const after = new MemorySaver();
  Object.assign(after, deserialize(serialize({ storage, writes })));
  return after;
}

function openModel(url: string, { stream = false }: Scenario): ChatOpenAI {
  return new ChatOpenAI({
    model: "scripted",
    apiKey: "none",
    streaming: stream,
    maxRetries: 0,
    configuration: { baseURL: `${url}/v1` },
  });
}

function wireName(name: string): string {
  return name.replaceAll(".", "__");
}

function canonicalName(name: string): string {
  return name.replaceAll("__", ".");
}
