// A loop on a vendor's own client, bare as in the vendor's documentation, and with the mappers.

import { createGate, watchProgress, type Gate } from "@soong/bridge";
import { executeCalls, type VendorOutcome } from "@soong/bridge/vendors";
import type { ModelTool, ToolCall } from "@soong/core";
import { openScenarioRun, type ScenarioRun } from "../../harness/open-scenario-run.ts";
import type { Play, Played, Scenario } from "../../scenario.ts";

/** A conversation with one vendor. What it holds is plain JSON. */
export interface VendorConversation {
  /** Sends everything so far, and adds the answer. In a stream `onCall` has each call as soon as it is complete. */
  request(
    tools: readonly ModelTool[],
    options: { stream: boolean; signal: AbortSignal; onCall?: (call: ToolCall) => void },
  ): Promise<ToolCall[]>;
  addResults(calls: readonly ToolCall[], outcomes: readonly VendorOutcome[]): void;
  /** The same without the mappers: the text of each result. */
  addTexts(calls: readonly ToolCall[], texts: readonly string[]): void;
  save(): string;
}

export type OpenConversation = (url: string, saved?: string) => VendorConversation;

export async function playVendor(play: Play, open: OpenConversation): Promise<Played> {
  const { signal } = play;
  const seen: Seen = { asked: [], progress: [], runs: [] };
  let end: Played["end"] = "completed";
  let error: string | undefined;
  try {
    await (play.mode === "bare" ? loopBare(play, open) : loopWithKernel(play, open, seen));
  } catch (thrown) {
    end = signal.aborted ? "aborted" : "failed";
    error = String(thrown);
  }
  if (signal.aborted) end = "aborted";
  const { asked, progress, runs } = seen;
  return {
    end,
    ...(error !== undefined && { error }),
    asked: [...asked, ...runs.flatMap((one) => one.asked)],
    progress,
    facts: runs.flatMap(({ facts }) => facts),
  };
}

interface Seen {
  readonly asked: string[];
  readonly progress: string[];
  readonly runs: ScenarioRun[];
}

/** As the documentation of the vendors has it: parse, look the function up, call it, send what it returns. With the signal. */
async function loopBare({ scenario, url, signal }: Play, open: OpenConversation): Promise<void> {
  const conversation = open(url);
  const tools = scenario.tools.map(({ name, description, input_schema }) => ({
    name: name.replaceAll(".", "__"),
    description,
    input_schema,
  }));
  for (;;) {
    const calls = await conversation.request(tools, { stream: scenario.stream === true, signal });
    if (calls.length === 0) return;
    const texts: string[] = [];
    for (const call of calls) {
      signal.throwIfAborted();
      texts.push(await callFunction(scenario, call, signal));
    }
    conversation.addTexts(calls, texts);
  }
}

async function callFunction(
  { tools }: Scenario,
  call: ToolCall,
  signal: AbortSignal,
): Promise<string> {
  const given: unknown =
    typeof call.arguments === "string" ? JSON.parse(call.arguments) : call.arguments;
  const tool = tools.find(({ name }) => name.replaceAll(".", "__") === call.name);
  if (tool === undefined) throw new Error(`there is no function ${call.name}`);
  const value = await tool.run(given as Parameters<typeof tool.run>[0], {
    signal,
    progress: () => {},
  });
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

async function loopWithKernel(play: Play, open: OpenConversation, seen: Seen): Promise<void> {
  const { scenario, url, signal } = play;
  let conversation = open(url);
  let loop = await openLoop(scenario, seen);
  for (;;) {
    const { tools } = await loop.run.tools();
    if (scenario.stream === true) {
      if (!(await streamTurn(loop, conversation, tools, signal))) return;
      continue;
    }
    const calls = await conversation.request(tools, { stream: false, signal });
    if (calls.length === 0) return;
    const approved = await askHost(loop, calls, scenario);
    if (approved !== undefined && scenario.restart === true) {
      conversation = open(url, conversation.save());
      loop = await openLoop(scenario, seen);
    }
    watchCalls(loop, calls);
    const outcomes = await executeCalls(loop.gate, calls, {
      signal,
      isApproved: (_call, at) => approved?.has(at) === true,
    });
    conversation.addResults(calls, outcomes);
  }
}

interface Loop extends ScenarioRun {
  readonly gate: Gate;
  readonly seen: Seen;
}

async function openLoop(scenario: Scenario, seen: Seen): Promise<Loop> {
  const one = await openScenarioRun(scenario);
  seen.runs.push(one);
  return { ...one, seen, gate: createGate(one.run, one.approvals) };
}

/** Calls start while the model still writes. False when it made none. */
async function streamTurn(
  loop: Loop,
  conversation: VendorConversation,
  tools: readonly ModelTool[],
  signal: AbortSignal,
): Promise<boolean> {
  const turn = loop.gate.openTurn();
  const outcomes: Promise<VendorOutcome>[] = [];
  const onCall = (call: ToolCall): void => {
    watchCalls(loop, [call]);
    outcomes.push(turn.push(call, { signal }).outcome);
  };
  try {
    const calls = await conversation.request(tools, { stream: true, signal, onCall });
    turn.end();
    if (calls.length > 0) conversation.addResults(calls, await Promise.all(outcomes));
    return calls.length > 0;
  } catch (error) {
    await turn.discard(String(error));
    throw error;
  }
}

/** The places of the calls that the host's user approved; undefined without the host's approvals. */
async function askHost(
  { run, approvals, seen }: Loop,
  calls: readonly ToolCall[],
  { approve = [] }: Scenario,
): Promise<Set<number> | undefined> {
  if (approvals === undefined) return undefined;
  const approved = new Set<number>();
  for (const [at, call] of calls.entries()) {
    if (!(await approvals.needsApproval(run, call))) continue;
    const name = call.name.replaceAll("__", ".");
    seen.asked.push(name);
    if (approve.includes(name)) approved.add(at);
  }
  return approved;
}

function watchCalls({ run, seen: { progress } }: Loop, calls: readonly ToolCall[]): void {
  for (const { id = "" } of calls) {
    const call = { run_id: run.identity.run_id, tool_call_id: id };
    watchProgress(run.session, call, ({ message = "" }) => void progress.push(message));
  }
}
