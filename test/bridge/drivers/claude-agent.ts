// The Claude Agent SDK, with the program that it starts, on Anthropic's messages. Its own tools are switched off: the cases are
// about tools of the user.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createSdkMcpServer,
  query,
  tool,
  type CanUseTool,
  type HookCallback,
  type Options,
  type SDKResultMessage,
  type SDKUserMessage,
} from "@anthropic-ai/claude-agent-sdk";
import { bridgeClaudeAgent, type ClaudeAgentBridge } from "@soong/bridge/claude-agent";
import { z } from "zod";
import { openScenarioRun, type ScenarioRun } from "../harness/open-scenario-run.ts";
import type { Driver, Play, Played, Scenario } from "../scenario.ts";

const PREFIX = "mcp__soong__";

export const driver: Driver = {
  peer: "Claude Agent SDK 0.3.326",
  namePrefix: PREFIX,
  limits: {
    "broken-stream": "Claude Code starts each call as soon as it has read it, writes too",
    "duplicate-ids": "both calls run, but Claude Code sends its model one result for an id",
  },
  async play(play) {
    return play.mode === "bare" ? playBare(play) : playBridge(play);
  },
};

async function playBare(play: Play): Promise<Played> {
  const { scenario } = play;
  const { tools, approval = "none", restart = false } = scenario;
  const asked: string[] = [];
  const progress: string[] = [];
  const answers = new Map<string, boolean>();
  const free = tools.filter(({ effect }) => approval === "none" || effect === "read");
  const played = await runLoop(play, asked, async () => ({
    options: {
      mcpServers: { soong: createBareServer(scenario, progress) },
      allowedTools: free.map(({ name }) => PREFIX + wireName(name)),
      ...(restart
        ? { hooks: { PreToolUse: [{ hooks: [deferWrites(scenario, answers)] }] } }
        : { canUseTool: answerAs(scenario, asked) }),
    },
    answer: (id, approve) => void answers.set(id, approve),
  }));
  return { ...played, progress, facts: [] };
}

function createBareServer({ tools }: Scenario, progress: string[]) {
  return createSdkMcpServer({
    name: "soong",
    tools: tools.map(({ name, description, input_schema, effect, run }) =>
      tool(
        wireName(name),
        description,
        (z.fromJSONSchema(input_schema as Parameters<typeof z.fromJSONSchema>[0]) as z.ZodObject)
          .shape,
        async (input, extra) => {
          const { signal } = extra as { signal: AbortSignal };
          const report = (message: string) => void progress.push(message);
          const value = await run(input as Parameters<typeof run>[0], { signal, progress: report });
          const text = typeof value === "string" ? value : JSON.stringify(value);
          return { content: [{ type: "text", text: text ?? "" }] };
        },
        { annotations: { readOnlyHint: effect === "read" } },
      ),
    ),
  });
}

function deferWrites({ tools }: Scenario, answers: ReadonlyMap<string, boolean>): HookCallback {
  return async (input) => {
    if (input.hook_event_name !== "PreToolUse") return {};
    const wanted = tools.find(({ name }) => PREFIX + wireName(name) === input.tool_name);
    const said = answers.get(input.tool_use_id);
    const decision = said === undefined ? "defer" : said ? "allow" : "deny";
    return {
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: wanted?.effect === "write" ? decision : "allow",
      },
    };
  };
}

async function playBridge(play: Play): Promise<Played> {
  const { scenario } = play;
  const asked: string[] = [];
  const progress: string[] = [];
  const opened: ScenarioRun[] = [];
  const played = await runLoop(play, asked, async () => {
    const one = await openScenarioRun(scenario);
    opened.push(one);
    const soong: ClaudeAgentBridge = bridgeClaudeAgent(one.run, {
      ...(one.approvals && { approvals: one.approvals }),
      ...(scenario.restart !== true && { canUseTool: answerAs(scenario, asked) }),
      onProgress: ({ message = "" }) => void progress.push(message),
    });
    return {
      options: {
        hooks: soong.hooks,
        canUseTool: soong.canUseTool,
        mcpServers: { soong: soong.server },
      },
      answer: (id, approve) => soong.answer(id, { approve }),
    };
  });
  for (const { run } of opened) run.end(played.end);
  return {
    ...played,
    asked: [...asked, ...opened.flatMap((one) => one.asked)],
    progress,
    facts: opened.flatMap(({ facts }) => facts),
  };
}

interface Loop {
  readonly options: Options;
  readonly answer: (toolUseId: string, approve: boolean) => void;
}

/** As its documentation shows: a query, and another one that resumes it if it ended with a call that waits. */
async function runLoop(
  { scenario, url, signal }: Play,
  asked: string[],
  openLoop: () => Promise<Loop>,
): Promise<Omit<Played, "facts">> {
  const home = await mkdtemp(join(tmpdir(), "claude-agent-"));
  const common: Options = {
    ...QUIET,
    cwd: home,
    env: createEnvironment(home, url),
    includePartialMessages: scenario.stream === true,
  };
  try {
    let loop = await openLoop();
    let [result] = await readLastResult(
      query({ prompt: "go", options: { ...common, ...loop.options } }),
      signal,
    );
    for (;;) {
      const waiting = result?.subtype === "success" ? result.deferred_tool_use : undefined;
      if (result === undefined || waiting === undefined) break;
      const name = canonicalName(waiting.name.slice(PREFIX.length));
      asked.push(name);
      loop = await openLoop();
      loop.answer(waiting.id, scenario.approve?.includes(name) === true);
      const untilEnd = openPrompt();
      const resumed = { ...common, ...loop.options, resume: result.session_id };
      [result] = await readLastResult(
        query({ prompt: untilEnd.prompt, options: resumed }),
        signal,
        waiting.id,
      );
      untilEnd.end();
    }
    if (result?.subtype === "success" && !signal.aborted) {
      return { end: "completed", asked, progress: [] };
    }
    const error =
      result !== undefined && "errors" in result ? result.errors.join("; ") : "no result";
    return { end: signal.aborted ? "aborted" : "failed", error, asked, progress: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { end: signal.aborted ? "aborted" : "failed", error: message, asked, progress: [] };
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * An empty prompt that stays open: it makes the program continue. A text would end the input with the first result, which is the
 * one that is resumed from.
 */
function openPrompt(): { prompt: AsyncIterable<SDKUserMessage>; end: () => void } {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  async function* wait(): AsyncGenerator<SDKUserMessage> {
    yield { type: "user", message: { role: "user", content: "" }, parent_tool_use_id: null };
    await ended;
  }
  return { prompt: wait(), end };
}

const QUIET: Options = {
  model: "claude-sonnet-4-5",
  tools: [],
  settingSources: [],
  strictMcpConfig: true,
};

/** The last one: a query that resumes begins with the result it resumes from. */
async function readLastResult(
  messages: ReturnType<typeof query>,
  signal: AbortSignal,
  resumedFrom?: string,
): Promise<SDKResultMessage[]> {
  // An AbortController ends the program, which may ask its model once more before that.
  signal.addEventListener("abort", () => void messages.interrupt(), { once: true });
  const results: SDKResultMessage[] = [];
  for await (const message of messages) {
    if (message.type !== "result") continue;
    const isOld =
      message.subtype === "success" &&
      resumedFrom !== undefined &&
      message.deferred_tool_use?.id === resumedFrom;
    if (isOld) continue;
    results.push(message);
    if (resumedFrom !== undefined) break;
  }
  return results.slice(-1);
}

function answerAs({ approve = [] }: Scenario, asked: string[]): CanUseTool {
  return async (toolName, input) => {
    const name = canonicalName(toolName.slice(PREFIX.length));
    asked.push(name);
    return approve.includes(name)
      ? { behavior: "allow", updatedInput: input }
      : { behavior: "deny", message: "the user said no" };
  };
}

function createEnvironment(home: string, url: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
  };
}

function wireName(name: string): string {
  return name.replaceAll(".", "__");
}

function canonicalName(name: string): string {
  return name.replaceAll("__", ".");
}
