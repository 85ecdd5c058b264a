// Where an agent of a stored session continues, also after a crash in the middle of an answer (STORE-3): calls may have
// acted by then, so the answer they are of is put together again from the facts, with the results below it.

import type { ConversationNode, Fact } from "@soong/core";
import { answerNode, isInnerCall } from "../context/index.ts";
import type { ModelCall } from "../model/index.ts";

/** The part of a store's session reader that is needed. */
export interface HistoryReader {
  activePath(agent_id: string): Promise<ConversationNode[]>;
  runs(): Promise<readonly HistoryRun[]>;
  facts(page: {
    readonly run_id: string;
    readonly before: number;
    readonly limit: number;
  }): Promise<Fact[]>;
  children(node_id: string): Promise<ConversationNode[]>;
}

interface HistoryRun {
  readonly run_id: string;
  readonly agent_id: string;
  /** Of one that is `completed` nothing is left to put together, and nothing is read. */
  readonly status?: string;
}

/** To be spread into the options of `openConversation`. */
export interface History {
  /** Root first. */
  readonly history: readonly ConversationNode[];
  /** Those of it that the next run has to record. */
  readonly unrecorded: readonly ConversationNode[];
}

export async function readHistory(reader: HistoryReader, agent_id: string): Promise<History> {
  const path = await reader.activePath(agent_id);
  const answer = rebuildAnswer(await readSinceLastRequest(reader, agent_id));
  // The conversation may have been rewound since.
  if (answer === undefined || answer.parent_id !== path.at(-1)?.node_id) {
    return { history: path, unrecorded: [] };
  }
  return {
    history: [...path, answer, ...(await readChain(reader, answer.node_id))],
    unrecorded: [answer],
  };
}

const PAGE = 500;

/** The last `model.started` of an agent in a run that broke off, and what came after it in that run. */
async function readSinceLastRequest(reader: HistoryReader, agent_id: string): Promise<Fact[]> {
  const runs = (await reader.runs()).filter(
    (run) => run.agent_id === agent_id && run.status !== "completed",
  );
  // A run may have ended before it asked anything.
  for (const { run_id } of runs.toReversed()) {
    const facts = await readLastRequest(reader, run_id);
    if (facts.length > 0) return facts;
  }
  return [];
}

async function readLastRequest(reader: HistoryReader, run_id: string): Promise<Fact[]> {
  const later: Fact[][] = [];
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const page = await reader.facts({ run_id, before, limit: PAGE });
    const at = page.findLastIndex(({ type }) => type === "model.started");
    if (at !== -1) return [...page.slice(at), ...later.toReversed().flat()];
    later.push(page);
    const first = page[0];
    if (first === undefined || page.length < PAGE) return [];
    before = first.seq;
  }
}

/** Undefined where the answer has its end, or had no call: then nothing was done in its name. */
function rebuildAnswer([started, ...after]: readonly Fact[]): ConversationNode | undefined {
  if (started?.type !== "model.started") return undefined;
  const { session_id, run_id, agent_id } = started;
  const { node_id, parent_node_id, model } = started.data;
  if (run_id === undefined || agent_id === undefined || node_id === undefined) return undefined;
  const calls: ModelCall[] = [];
  let text = "";
  for (const fact of after) {
    if (fact.type === "model.completed" || fact.type === "model.failed") return undefined;
    if (fact.type === "tool.requested" && !isInnerCall(fact.data)) calls.push(toModelCall(fact));
    else if (fact.type === "model.delta") text += fact.data.text;
  }
  if (calls.length === 0) return undefined;
  const place = { node_id, parent_id: parent_node_id, session_id, run_id, agent_id };
  return answerNode(place, { model, text, calls, unfinished: true });
}

/** As the model sent it, without secrets; what was too long for the fact is cut. */
function toModelCall({
  tool_call_id = "",
  tool_name = "",
  data: { native_name, model_input },
}: Fact<"tool.requested">): ModelCall {
  return {
    tool_call_id,
    name: native_name ?? tool_name,
    arguments: typeof model_input === "string" ? model_input : JSON.stringify(model_input ?? {}),
  };
}

/** One below the other, as results are: where there are several, the newest is the one that counts. */
async function readChain(reader: HistoryReader, node_id: string): Promise<ConversationNode[]> {
  const chain: ConversationNode[] = [];
  const seen = new Set([node_id]);
  for (let at = node_id; ;) {
    const next = (await reader.children(at)).at(-1);
    if (next === undefined || seen.has(next.node_id)) return chain;
    seen.add(next.node_id);
    chain.push(next);
    at = next.node_id;
  }
}
