// A recorded run as a script (REPLAY-3): one turn a model request, with what it said, called and failed with, and checks on
// the results where they can be expected again. It is made from facts and nodes, so it holds no secret they do not hold.

import {
  isTerminalFact,
  type ConversationNode,
  type Fact,
  type FactData,
  type ToolResult,
} from "@soong/core";
import { ARGUMENTS_NAME } from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import {
  isInnerCall,
  messageText,
  readMessage,
  type Expectation,
  type ReadMessage,
  type Script,
  type ScriptPart,
  type ScriptTurn,
} from "@soong/agent";
import { ParallelCalls } from "./parallel-calls.ts";
import { hasPlaceholder } from "./recorded-arguments.ts";
import { isObserverEvent } from "./recorded-call.ts";
import { ReplayError, readArtifact, readFacts, type ReplaySource } from "./source.ts";
import {
  toScriptCall,
  type SentCall,
  CarriedGuards,
  expectResult,
  wasStopped,
  toScriptFailure,
  toScriptStop,
} from "./script-turn.ts";

export interface ScriptOptions {
  readonly source: ReplaySource;
  readonly run_id: string;
  /** Hides secrets in arguments that were kept apart, which are raw. Default: those are not exported whole. */
  readonly redact?: (text: string) => string;
}

export interface RunScript {
  readonly script: Script;
  /** What the model was asked first; undefined where no model was. */
  readonly prompt?: string;
  /** What a script cannot say, or says differently. */
  readonly notes: readonly string[];
}

/** An answer on its way. */
interface Answer {
  readonly parts: (string | SentCall)[];
  readonly isCompaction: boolean;
  readonly expect: readonly Expectation[];
}

export async function exportRunScript(options: ScriptOptions): Promise<RunScript> {
  const { source, run_id } = options;
  const turns: ScriptTurn[] = [];
  const notes = new Set<string>();
  /** What the next request will hold: the calls of the last answer, in their order. */
  let asked: string[] = [];
  const results = new Map<string, ToolResult>();
  const replaced = new Set<string>();
  let answer: Answer | undefined;
  let summary: { readonly at: number } | undefined;
  let own: Answer | undefined;
  let prompt: string | undefined;
  let known = false;
  /** What `agent.child.created` says of each, in the order they were started. */
  const children: FactData<"agent.child.created">[] = [];
  /** An input holds the placeholder of a secret: its result, and what follows, may differ from the record. */
  let isAltered = false;
  const carried = new CarriedGuards();
  const parallel = new ParallelCalls();
  /** The last answer made calls, and nothing was sent after it. */
  let isUnanswered = false;
  /** How the calls of the last answer were halted, where that is on record. */
  let haltKind: string | undefined;
  /** By a hook, which the script has do it again. */
  let isStopped = false;

  for await (const fact of readFacts(source, run_id)) {
    known = true;
    await applyFact(fact);
  }
  if (!known) throw new ReplayError("run_unknown", `There is no run ${run_id} in this session.`);
  if (answer !== undefined) takeTurn(answer, buildTurn(answer, carried));
  if (own !== undefined) {
    turns.push(buildTurn(own, carried));
    asked = listCallIds(own);
    endDone(
      "No model was asked in this run: its calls are given to one, which then says that it is done.",
    );
  } else if (isUnanswered && !isStopped) {
    endDone(
      "The run was over before the model was sent its last results: the script says that it is done.",
    );
  }
  if (turns.length === 0) notes.add("The run made no request and no call: the script is empty.");
  const agents = await exportChildren(options, children, notes);
  return {
    script: { turns: carried.addTo(turns), ...agents },
    ...omitUndefined({ prompt }),
    notes: [...notes],
  };

  async function applyFact(fact: Fact): Promise<void> {
    const { tool_call_id = "" } = fact;
    switch (fact.type) {
      case "model.started": {
        const isCompaction = fact.data.purpose === "compaction";
        isUnanswered = false;
        haltKind = undefined;
        answer = { parts: [], isCompaction, expect: isCompaction ? [] : expectations() };
        return;
      }
      case "model.delta":
        answer?.parts.push(fact.data.text);
        return;
      case "model.completed":
      case "model.failed":
        return takeEnd(fact);
      case "turn.halted":
        haltKind = fact.data.kind;
        return noteRunning();
      case "context.compaction.completed":
        return takeSummary(fact.data);
      case "tool.requested":
        return takeCall(fact);
      case "artifact.created":
        return takeKept(tool_call_id, fact.data);
      case "tool.started":
        parallel.start(tool_call_id);
        return carried.start(tool_call_id);
      case "hook.denied":
        return carried.deny(tool_call_id, fact.data);
      case "hook.completed":
        if (isObserverEvent(fact.data.event)) replaced.add(tool_call_id);
        return;
      case "agent.child.created":
        children.push(fact.data);
        return;
      case "run.aborted":
        isStopped = fact.data.error?.code === "stopped_by_hook";
        if (isStopped) return;
        notes.add("The run was aborted; a script has no such end, and continues to its last turn.");
        return;
      default:
        takeResult(fact);
    }
  }

  function takeResult(fact: Fact): void {
    if (!isTerminalFact(fact)) return;
    const { tool_name = "", tool_call_id = "", data } = fact;
    const { result } = data;
    if (result === undefined) return;
    if (parallel.end(tool_call_id, result.status)) {
      notes.add(
        `${tool_call_id} ended on its own while something else ended the calls beside it: played again it may be cancelled, or the other way round.`,
      );
    }
    results.set(tool_call_id, result);
    carried.end(tool_call_id, data);
    if (result.error?.code !== "interrupted") return;
    if (wasStoppedByHook(result, haltKind)) carried.stop(tool_call_id);
    else if (result.status !== "discarded") {
      // Ends that came from when things happened, which a script does not say.
      notes.add(
        `${tool_name} (${tool_call_id}) was ended by new input. A script has none: the call continues to its end.`,
      );
    }
  }

  function noteRunning(): void {
    for (const id of parallel.running) {
      notes.add(
        `${id} was still running when its answer ended: played again it may have ended by then.`,
      );
    }
  }

  function takeCall(fact: Fact<"tool.requested">): void {
    if (isInnerCall(fact.data)) {
      notes.add(
        "Calls made by other calls or at the start of the run are omitted: they are made again.",
      );
      return;
    }
    const call: SentCall = { fact };
    if (!isAltered && hasPlaceholder(fact.data.model_input ?? "")) {
      isAltered = true;
      notes.add("Inputs hold placeholders of secrets: put the real ones there where it matters.");
    }
    if (answer !== undefined) {
      answer.parts.push(call);
      return;
    }
    // No model asked for it: what a program calls at once is one turn.
    const isFirst = fact.data.index === 0;
    if (own !== undefined && isFirst) {
      turns.push(buildTurn(own, carried));
      asked = listCallIds(own);
      own = undefined;
    }
    own ??= { parts: [], isCompaction: false, expect: expectations() };
    own.parts.push(call);
  }

  async function takeKept(tool_call_id: string, data: FactData<"artifact.created">): Promise<void> {
    const { redact } = options;
    if (data.name !== ARGUMENTS_NAME || redact === undefined) return;
    const call = [...((answer ?? own)?.parts ?? [])].find((part): part is SentCall => {
      return typeof part !== "string" && part.fact.tool_call_id === tool_call_id;
    });
    const bytes = await readArtifact(source, data.artifact_id);
    if (call !== undefined && bytes !== undefined)
      call.whole = redact(new TextDecoder().decode(bytes));
  }

  async function takeEnd({ type, data }: Fact<"model.completed" | "model.failed">): Promise<void> {
    if (answer === undefined) return;
    const ended = answer;
    answer = undefined;
    const { node_id } = data;
    const stop = type === "model.completed" ? data.stop : undefined;
    if (type === "model.failed" || stop === "max_tokens") noteRunning();
    const error = type === "model.failed" ? data.error : undefined;
    if (error?.kind === "script") {
      notes.add(
        "The run was played from a script that had no answer here: this one has none either.",
      );
      return;
    }
    const node = node_id === undefined ? undefined : await source.node(node_id);
    const said = node === undefined ? undefined : readMessage(node);
    if (prompt === undefined && node?.parent_id !== undefined) {
      prompt = await findPrompt(source, node.parent_id);
    }
    const failure = type === "model.failed" ? toScriptFailure(error) : undefined;
    for (const note of [failure?.note, toScriptStop(stop).note])
      if (note !== undefined) notes.add(note);
    const brokenBy = carried.breakAfter(listCallIds(ended), failure?.error);
    const turn = buildTurn(ended, carried, said, {
      error: brokenBy,
      stop: toScriptStop(stop).stop,
    });
    if (ended.isCompaction) summary = { at: turns.length };
    takeTurn(ended, turn);
  }

  function takeTurn(ended: Answer, turn: ScriptTurn): void {
    turns.push(turn);
    if (ended.isCompaction || turn.error !== undefined) return;
    asked = listCallIds(ended);
    isUnanswered = asked.length > 0 && turn.stop !== "max_tokens";
  }

  /** The text of a summary is in its node only. */
  async function takeSummary({ node_id }: { readonly node_id: string }): Promise<void> {
    const node = await source.node(node_id);
    const [block] = node?.content ?? [];
    if (summary !== undefined && block?.type === "text") {
      turns[summary.at] = { text: block.text.replace(SUMMARY_HEADING, "") };
    }
    summary = undefined;
    // What came before is not in the next request as it was.
    asked = [];
  }

  function expectations(): Expectation[] {
    return asked.flatMap((id, index) => {
      const result = results.get(id);
      const isOther = isAltered || replaced.has(id);
      return result === undefined || wasStopped(result)
        ? []
        : [expectResult(index, result, isOther)];
    });
  }

  function endDone(note: string): void {
    turns.push({ ...expecting(expectations()), text: "Done." });
    notes.add(note);
  }
}

/** The hook is in the script: it ends these again. */
const ENDED_BY_HOOK = "The run was ended by a hook: ";

/** Records of earlier versions say in the message only that a hook did. */
function wasStoppedByHook({ error }: ToolResult, haltKind: string | undefined): boolean {
  return haltKind === undefined
    ? error?.message.startsWith(ENDED_BY_HOOK) === true
    : haltKind === "stop";
}

/** The turns of the agents it started, start by start, under the definition each was of. */
async function exportChildren(
  options: ScriptOptions,
  children: readonly FactData<"agent.child.created">[],
  notes: Set<string>,
): Promise<Pick<Script, "agents">> {
  const agents: Record<string, (readonly ScriptTurn[])[]> = {};
  for (const { child_run_id: run_id, agent_definition_id: definition } of children) {
    try {
      const child = await exportRunScript({ ...options, run_id });
      (agents[definition] ??= []).push(child.script.turns);
      for (const note of child.notes) notes.add(`${definition} (${run_id}): ${note}`);
    } catch (error) {
      if (!(error instanceof ReplayError)) throw error;
      (agents[definition] ??= []).push([]);
      notes.add(`${definition} (${run_id}) has no run on record: it has no turns in the script.`);
    }
  }
  return children.length === 0 ? {} : { agents };
}

const SUMMARY_HEADING = /^Summary of the conversation up to here:\n\n/;

function expecting(expect: readonly Expectation[]): { expect?: readonly Expectation[] } {
  return expect.length === 0 ? {} : { expect };
}

/** In the short form where text comes before the calls, else part by part. */
function buildTurn(
  { parts, expect }: Answer,
  carried: CarriedGuards,
  said?: ReadMessage,
  { error, stop }: Pick<ScriptTurn, "error" | "stop"> = {},
): ScriptTurn {
  const message = said?.role === "assistant" ? said : undefined;
  const whole = new Map(message?.calls.map((call) => [call.tool_call_id, call.arguments]));
  const exact = parts.map((part): ScriptPart => {
    if (typeof part === "string") return { text: part };
    const { tool_call_id = "" } = part.fact;
    return { call: carried.add(toScriptCall(part, whole.get(tool_call_id)), tool_call_id) };
  });
  const calls = exact.flatMap((part) => ("call" in part ? [part.call] : []));
  const texts = parts.filter((part) => typeof part === "string").join("");
  const text = message?.text ?? texts;
  const firstCall = exact.findIndex((part) => "call" in part);
  const isMixed = firstCall !== -1 && exact.slice(firstCall).some((part) => "text" in part);
  const head = expecting(expect);
  const tail = omitUndefined({ stop });
  if (isMixed && texts === text) {
    return { ...head, parts: error === undefined ? exact : [...exact, { error }], ...tail };
  }
  // A long text is recorded in part where it came, and whole only as one.
  const isEmpty = text === "" && calls.length === 0 && error === undefined;
  return {
    ...head,
    ...(text === "" && !isEmpty ? {} : { text }),
    ...(calls.length === 0 ? {} : { calls }),
    ...omitUndefined({ error }),
    ...tail,
  };
}

function listCallIds({ parts }: Answer): string[] {
  return parts.flatMap((part) => (typeof part === "string" ? [] : [part.fact.tool_call_id ?? ""]));
}

const ADDED: ReadonlySet<ConversationNode["kind"]> = new Set(["hook_context", "memory_context"]);

async function findPrompt(source: ReplaySource, node_id: string): Promise<string | undefined> {
  const node = await source.node(node_id);
  if (node === undefined) return undefined;
  // What was added to the prompt is below it: texts of hooks, memories.
  if (ADDED.has(node.kind) && node.parent_id !== undefined)
    return findPrompt(source, node.parent_id);
  return readMessage(node)?.role === "user" ? messageText(node.content) : undefined;
}
