// `soong show`: what was said in a session, as Markdown: prompts, answers, and a block for each call with its questions and
// what it came to. The transcript of a child agent is a quotation below the call that started it.

import { isTerminalFact, type Fact, type FactType } from "@soong/core";
import type { SessionReader, Store } from "@soong/store";
import { readTranscript, type TranscriptEntry } from "../../conversation/transcript.ts";
import { visible, visibleLine } from "../../output/index.ts";
import type { Handler } from "../handler.ts";
import { resolveSession, withReadOnlyStore } from "../stored.ts";
import { describeSummary, summarizeSessions, type SessionSummary } from "./session-summary.ts";
import { renderEntry, type ShownEntry } from "./transcript-markdown.ts";

export const showSession: Handler<"show"> = async (
  context,
  { session: given },
  { full = false },
) => {
  const { output, print } = context;
  const missing = given === undefined ? "session" : `session ${given}`;
  await withReadOnlyStore(context, missing, async (store) => {
    const record = await resolveSession(context, store, given);
    const [summary] = await summarizeSessions(store, [record]);
    if (summary === undefined) return;
    print({ session: summary }, () => renderHeading(summary));
    for (const entry of await readSession(store, record.session_id)) {
      print(entry, () => renderEntry(entry, { full }));
      await output.drained();
      if (output.isClosed) return;
    }
  });
};

function renderHeading(summary: SessionSummary): string[] {
  const { session_id, title = "Session", project, worker_of } = summary;
  const { session_id: from, run_id } = worker_of ?? {};
  const about = [
    `\`${visible(session_id)}\``,
    ...(project === undefined ? [] : [visibleLine(project)]),
    ...describeSummary(summary, Date.now()),
    ...(from === undefined
      ? []
      : [`dispatched by \`${visible(run_id ?? "")}\` of \`${visible(from)}\``]),
  ];
  return [`# ${visibleLine(title)}`, "", about.join(" · ")];
}

const FACTS = [
  "tool.requested",
  "permission.requested",
  "permission.resolved",
  "permission.failed",
  "mcp.server.elicitation",
  "agent.child.created",
  "tool.completed",
  "tool.failed",
  "tool.denied",
  "tool.skipped",
  "tool.cancelled",
  "tool.discarded",
] as const satisfies readonly FactType[];

/** Of the agents that no other started, with those they started below their calls. */
async function readSession(store: Store, session_id: string): Promise<ShownEntry[]> {
  const reader = await store.readSession(session_id);
  const byCall = new Map<string, Fact[]>();
  for (const fact of await store.factsOfTypes([session_id], FACTS)) {
    if (fact.tool_call_id === undefined) continue;
    const facts = byCall.get(fact.tool_call_id) ?? [];
    byCall.set(fact.tool_call_id, [...facts, fact]);
  }
  const calls = await reader.calls();
  const seen = new Set<string>();
  const agents = await reader.agents();
  const here = new Set(agents.map(({ agent_id }) => agent_id));
  // The parent of a worker's agent may be in another session.
  const roots = agents.filter(({ parent_agent_id: id }) => id === undefined || !here.has(id));
  const shown: ShownEntry[] = [];
  for (const { agent_id } of roots) shown.push(...(await readAgent(agent_id, 0)));
  return shown;

  async function readAgent(agent_id: string, depth: number): Promise<ShownEntry[]> {
    if (seen.has(agent_id)) return [];
    seen.add(agent_id);
    const entries = readTranscript(await readOwnPath(reader, agent_id, depth), calls, {
      argumentsOf: (tool_call_id) => readArguments(byCall.get(tool_call_id)),
    });
    const all: ShownEntry[] = [];
    for (const entry of entries) {
      const facts = entry.kind === "call" ? (byCall.get(entry.tool_call_id) ?? []) : [];
      all.push({ agent_id, depth, ...withQuestions(entry, facts) });
      for (const fact of facts) {
        if (fact.type !== "agent.child.created") continue;
        const { child_agent_id, agent_definition_id, task } = fact.data;
        all.push({
          agent_id: child_agent_id,
          depth: depth + 1,
          kind: "child",
          agent_definition_id,
          task,
        });
        all.push(...(await readAgent(child_agent_id, depth + 1)));
      }
    }
    return all;
  }
}

/** A fork begins with the conversation it inherited, which was shown already. */
async function readOwnPath(reader: SessionReader, agent_id: string, depth: number) {
  const path = await reader.activePath(agent_id);
  return depth === 0 ? path : path.filter((node) => node.agent_id === agent_id);
}

function readArguments(facts: readonly Fact[] = []): string {
  const requested = facts.find(({ type }) => type === "tool.requested");
  const { model_input } = (requested?.data ?? {}) as { model_input?: unknown };
  if (model_input === undefined) return "";
  return typeof model_input === "string" ? model_input : JSON.stringify(model_input);
}

/** Adds the questions about a call, their answers, and what users see of its result. */
function withQuestions(entry: TranscriptEntry, facts: readonly Fact[]): TranscriptEntry & Asked {
  const questions = facts.flatMap((fact) => readQuestion(fact) ?? []);
  const summary = facts.find(isTerminalFact)?.data.result?.summary;
  return {
    ...entry,
    ...(questions.length === 0 ? {} : { questions }),
    ...(summary === undefined ? {} : { summary }),
  };
}

type Asked = Pick<Extract<ShownEntry, { kind: "call" }>, "questions" | "summary">;

function readQuestion(fact: Fact): string | undefined {
  switch (fact.type) {
    case "permission.requested":
      return `Approval requested: ${fact.data.request.reason}`;
    case "permission.resolved": {
      const { decision, answered_by = "a user", reason } = fact.data;
      const words = decision.replaceAll("_", " ");
      return `${answered_by} answered: ${words}${reason === undefined ? "" : ` (${reason})`}`;
    }
    case "permission.failed":
      return `Not approved: ${fact.data.message}`;
    case "mcp.server.elicitation":
      return `The tool asked: ${fact.data.message}; answered: ${fact.data.action}`;
    default:
      return undefined;
  }
}
