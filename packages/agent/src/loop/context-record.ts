// `context.resolved`, the fact that precedes each model request (CTX-1): what the request holds, where that came from, by what
// policy calls will be judged, what was omitted and what had no source. Every list is there, empty or not. A fact with `since`
// names only what was added to the lists of that request, so that a turn records what the turn before it brought (LOOP-5).

import type { ConversationNode, FactData, FactRecord, Surface } from "@soong/core";
import {
  References,
  TOKEN_ESTIMATE,
  type ContextPlan,
  type ContextUnit,
} from "../context/index.ts";
import type { ContextFrame } from "./context-frame.ts";
import { describeFrame, type SentTexts } from "./keep-request.ts";
import { noteFact, type Running } from "./running.ts";

type ContextData = FactData<"context.resolved">;

/** What there is to tell of one request. */
export interface RequestContents {
  readonly frame: ContextFrame;
  /** The current state; empty where there is nothing to show. */
  readonly board: string;
  readonly plan: ContextPlan;
  readonly estimatedTokens: number;
}

/** `sent`: what is kept of this request alone. `last`: of the request before. */
export function recordContext(
  running: Running,
  contents: RequestContents,
  sent: SentTexts,
  last: ContextRecord | undefined,
): ContextRecord {
  const { book } = running;
  const isWhole = contents.plan.omitted.length === 0;
  const used = isWhole ? book.references : collectReferences(contents.plan.kept);
  const record = new ContextRecord(running, contents, sent, used, last);
  noteFact(running, record, "context.resolved");
  return record;
}

/** The lists that grow with the conversation. */
const GROWING = ["memory", "source", "file", "skill", "agent"] as const;
type Counts = Record<(typeof GROWING)[number], number>;

/** A reader walks over so many facts at most, or as many as there are references: all of them are repeated no more than twice. */
const MOST_CHANGES = 64;

/** The fact is made when it is read: most of it is the same as in the one before. */
export class ContextRecord implements FactRecord {
  readonly request: number;
  nodes: readonly ConversationNode[] | undefined = undefined;
  readonly #since: number | undefined;
  /** How many facts back the last whole one is, and how many references that one has. */
  readonly #changes: number;
  readonly #whole: number;
  readonly frame: ContextFrame;
  readonly #references: References;
  readonly #from: Counts;
  readonly #counts: Counts;
  readonly #orphans: number;
  readonly #missing: readonly object[];
  readonly #omissions: readonly object[];
  readonly #history: ContextData["history"];
  readonly #boardChars: number;
  /** Its artifact, or the last that a request since the whole one had. */
  readonly #board: string | undefined;
  readonly #isNewBoard: boolean;
  readonly #note: string | undefined;
  readonly #tokens: number;

  constructor(
    running: Running,
    { frame, board, plan, estimatedTokens }: RequestContents,
    sent: SentTexts,
    references: References,
    last: ContextRecord | undefined,
  ) {
    const { book } = running;
    this.request = running.requests + 1;
    this.frame = frame;
    this.#references = references;
    this.#orphans = book.orphans.length;
    this.#boardChars = board.length;
    this.#note = sent.note;
    this.#tokens = estimatedTokens;
    this.#history = describeRange(plan.kept, references.nodes);
    if (last?.isExtendedBy(this) === true) {
      this.#since = last.request;
      this.#board = sent.board ?? last.#board;
      this.#isNewBoard = this.#board !== last.#board;
      this.#changes = last.#changes + 1;
      this.#whole = last.#whole;
      this.#from = last.#counts;
      this.#counts = countReferences(references, last.#counts);
      this.#missing = last.#missing;
      this.#omissions = last.#omissions;
    } else {
      this.#since = undefined;
      this.#board = sent.board;
      this.#isNewBoard = true;
      this.#changes = 0;
      this.#from = NONE;
      this.#counts = countReferences(references);
      this.#whole = GROWING.reduce((sum, kind) => sum + this.#counts[kind], 0);
      this.#missing = listMissing(running, frame, references);
      this.#omissions = listOmissions(running, frame, plan);
    }
  }

  /** Whether the lists of the other only have more at their ends. */
  isExtendedBy(other: ContextRecord): boolean {
    const { memory, skill } = other.#references;
    return (
      this.frame === other.frame &&
      this.#references === other.#references &&
      this.#orphans === other.#orphans &&
      // What is no longer missing leaves that list.
      this.#counts.memory > 0 === memory.length > 0 &&
      this.#counts.skill > 0 === skill.length > 0 &&
      this.#changes < Math.max(MOST_CHANGES, this.#whole)
    );
  }

  factData(): ContextData {
    const isChange = this.#since !== undefined;
    const { policy, tools, ...lists } = this.frame.data;
    const added = (kind: keyof Counts): readonly object[] =>
      this.#references[kind].slice(this.#from[kind], this.#counts[kind]);
    const unchanged = { system: [], instruction_refs: [], workspace_refs: [], session_refs: [] };
    const { system, instruction_refs, workspace_refs, session_refs } = isChange ? unchanged : lists;
    return {
      request: this.request,
      ...(isChange ? { since: this.#since } : {}),
      system,
      memory_refs: added("memory"),
      knowledge_refs: [],
      source_refs: added("source"),
      instruction_refs,
      file_refs: added("file"),
      workspace_refs,
      browser_refs: [],
      session_refs,
      skill_refs: added("skill"),
      agent_refs: added("agent"),
      board: { chars: this.#boardChars },
      ...this.#describeSent(isChange),
      history: this.#history,
      policy,
      tools,
      omissions: isChange ? [] : this.#omissions,
      missing: isChange ? [] : this.#missing,
      tokens: { estimated: this.#tokens, tools: this.frame.toolTokens, ...TOKEN_ESTIMATE },
    };
  }

  #describeSent(isChange: boolean): Pick<ContextData, "sent"> {
    const board = this.#board;
    if (isChange) return this.#isNewBoard ? { sent: { board } } : {};
    const { kept } = this.frame;
    return kept === undefined ? {} : { sent: { ...describeFrame(kept), board, note: this.#note } };
  }
}

const NONE: Counts = { memory: 0, source: 0, file: 0, skill: 0, agent: 0 };

/** The same object where nothing was added. */
function countReferences(references: References, before = NONE): Counts {
  if (GROWING.every((kind) => references[kind].length === before[kind])) return before;
  const { memory, source, file, skill, agent } = references;
  return {
    memory: memory.length,
    source: source.length,
    file: file.length,
    skill: skill.length,
    agent: agent.length,
  };
}

function collectReferences(units: readonly ContextUnit[]): References {
  const references = new References();
  for (const { nodes } of units) for (const node of nodes) references.add(node);
  return references;
}

function describeRange(units: readonly ContextUnit[], nodes: number) {
  return {
    units: units.length,
    nodes,
    first_node_id: units[0]?.nodes[0]?.node_id,
    last_node_id: units.at(-1)?.nodes.at(-1)?.node_id,
  };
}

function listOmissions(
  { book }: Running,
  { omissions }: ContextFrame,
  { omitted }: ContextPlan,
): readonly object[] {
  const isWhole = omitted.length === 0;
  if (isWhole && book.orphans.length === 0) return omissions;
  const unfit = () => describeRange(omitted, collectReferences(omitted).nodes);
  return [
    ...(isWhole ? [] : [{ reason: "does not fit", ...unfit() }]),
    ...book.orphans.map(({ node_id }) => ({ reason: "result without its call", node_id })),
    ...omissions,
  ];
}

/** What a request could have and this one has no source for. */
function listMissing(
  { contextTokens, run, instructions }: Running,
  { data }: ContextFrame,
  { memory, skill }: References,
): object[] {
  const { skipped } = instructions;
  const missing: object[] = [];
  if (contextTokens === undefined) {
    const why = "no limit is configured; the provider's is not known";
    missing.push({ what: "context_tokens", why });
  }
  if (data.workspace_refs.length === 0) {
    missing.push({ what: "workspace", why: "the run has no roots" });
  }
  if (data.instruction_refs.length === 0 && skipped.length === 0) {
    const why = "there is no instruction file, and none was read";
    missing.push({ what: "instructions", why });
  }
  missing.push(...skipped.map((one) => ({ what: "instructions", ...one })));
  const found = { memory, knowledge: [], browser: [], skill };
  for (const [what, refs] of Object.entries(found)) {
    if (refs.length === 0) missing.push({ what, why: explainMissing(what, run.surface) });
  }
  return missing;
}

/** The tools that bring such things, where there are any. */
const BROUGHT_BY: ReadonlyMap<string, string> = new Map([
  ["memory", "internal.recall_memory"],
  ["skill", "internal.load_skill"],
]);

function explainMissing(what: string, { standing }: Pick<Surface, "standing">): string {
  const found = standing.get(BROUGHT_BY.get(what) ?? "");
  if (found === undefined) return "no source of it is connected";
  return found.state === "excluded" ? `excluded: ${found.detail}` : "none was asked for";
}

/**
 * What one request held, whole: `contexts` are those of its run in order, `at` is its place among them. Undefined where the one
 * it adds to is not among them.
 */
export function deriveContext(
  contexts: readonly ContextData[],
  at = contexts.length - 1,
): ContextData | undefined {
  const chain: ContextData[] = [];
  for (let i = at; ; i -= 1) {
    const context = contexts[i];
    const next = chain.at(-1);
    if (context === undefined || (next !== undefined && next.since !== context.request)) {
      return undefined;
    }
    chain.push(context);
    if (context.since === undefined) break;
  }
  chain.reverse();
  const { since: _since, ...whole } = chain.at(-1) as ContextData;
  const lists = Object.keys(whole).filter((key) => Array.isArray(whole[key as keyof typeof whole]));
  const joined = lists.map((key) => [
    key,
    chain.flatMap((context) => context[key as keyof ContextData] as object[]),
  ]);
  const sent = chain.some((context) => context.sent) && {
    sent: Object.assign({}, ...chain.map((context) => context.sent)) as SentTexts,
  };
  return { ...whole, ...sent, ...Object.fromEntries(joined) } as ContextData;
}
