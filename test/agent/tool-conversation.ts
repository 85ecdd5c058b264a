// A scripted conversation on the real clock, for tools that read and write files: who sits in its runs is known to them.

import {
  createKernel,
  createMemoryJournal,
  type ConversationNode,
  type Fact,
  type FactType,
  type MemoryJournal,
  type Session,
  type SessionOptions,
  type ToolSource,
} from "@soong/core";
import { factsOfTypes } from "../facts.ts";
import {
  openConversation,
  scriptedModel,
  type LoopOptions,
  type RunEnd,
  type FindRun,
  type ActiveRun,
  type ScriptTurn,
} from "@soong/agent";

export interface ToolConversation {
  readonly journal: MemoryJournal;
  readonly session: Session;
  ask(prompt: string): Promise<RunEnd>;
  facts<T extends FactType>(type: T): Fact<T>[];
  nodes(kind: ConversationNode["kind"]): ConversationNode[];
  /** The text of each result, in call order. */
  results(): string[];
}

export async function openToolConversation(
  turns: readonly ScriptTurn[],
  sources: (findRun: FindRun) => readonly ToolSource[],
  options: Partial<LoopOptions> & { readonly sessionOptions?: SessionOptions } = {},
): Promise<ToolConversation> {
  const { sessionOptions, ...loop } = options;
  const seats = new Map<string, ActiveRun>();
  const kernel = createKernel({ sources: sources(({ runId }) => seats.get(runId)) });
  const journal = createMemoryJournal();
  const session = await kernel.openSession({ session_id: "s1", journal, ...sessionOptions });
  const conversation = await openConversation({
    session,
    models: [scriptedModel({ turns }, { id: "script:test" })],
    runRegistry: {
      add: (seat) => void seats.set(seat.run.identity.run_id, seat),
      remove: ({ run }) => void seats.delete(run.identity.run_id),
    },
    ...loop,
  });
  const nodes = (kind: ConversationNode["kind"]): ConversationNode[] =>
    journal.nodes.filter((node) => node.kind === kind);
  return {
    journal,
    session,
    ask: (prompt) => conversation.send(prompt).end,
    facts: (type) => factsOfTypes(journal.facts, type),
    nodes,
    results: () => nodes("tool_result").map(textOf),
  };
}

export function textOf({ content }: Pick<ConversationNode, "content">): string {
  return content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n");
}

/** The path that ends with this node, root first. */
export function pathTo(nodes: readonly ConversationNode[], last: string): ConversationNode[] {
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  const path: ConversationNode[] = [];
  for (let at = byId.get(last); at !== undefined; at = byId.get(at.parent_id ?? "")) {
    path.unshift(at);
  }
  return path;
}
