// What was said in a session, and a run with its calls for comparing.

import type { Fact } from "@soong/core";
import { conversation, wholeItem } from "../timeline/conversation.ts";
import { lastAnswerNode, recordedCalls, runModels } from "../timeline/run-record.ts";
import { sessionRow } from "./session-summaries.ts";
import { missing, type LivePort } from "./ports.ts";
import type { Handlers } from "./router.ts";
import { readRun, type ConversationRoute, type SessionHandlerParts } from "./session-handlers.ts";
import { nodeText, readPrompt } from "./session-index.ts";

type ConversationHandlers = Pick<Handlers, ConversationRoute>;

/** Facts of a run that are read for its record, and how many of its calls are compared. */
const MOST_FACTS = 50_000;
const MOST_CALLS = 1000;
const PAGE = 1000;
const MOST_ANSWER_CHARS = 20_000;

export function conversationHandlers({
  indexes,
  live,
}: Pick<SessionHandlerParts, "indexes"> & {
  readonly live: LivePort | undefined;
}): ConversationHandlers {
  return {
    "GET /api/sessions/:session_id/conversation": {
      query: ["agent_id", "before", "after"],
      async handle({ parts: { session_id }, query }) {
        const agent_id = query.needed("agent_id");
        const { reader } = await indexes.of(session_id);
        const agents = await reader.agents();
        if (!agents.some((agent) => agent.agent_id === agent_id))
          throw missing("This session has no such agent.");
        const path = await reader.activePath(agent_id);
        return conversation(path, {
          agent_id,
          before: query.text("before"),
          after: query.text("after"),
        });
      },
    },
    "GET /api/sessions/:session_id/nodes/:node_id": {
      async handle({ parts: { session_id, node_id } }) {
        const { reader } = await indexes.of(session_id);
        const node = await reader.node(node_id);
        if (node === undefined) throw missing("This session has no such message.");
        return wholeItem(node);
      },
    },
    "GET /api/sessions/:session_id/runs": {
      async handle({ parts: { session_id }, signal }) {
        const index = await indexes.of(session_id);
        await index.readAll(signal);
        return { runs: index.timeline.runs() };
      },
    },
    "GET /api/sessions/:session_id/runs/:run_id/record": {
      async handle({ parts: { session_id, run_id }, signal }) {
        const index = await indexes.of(session_id);
        await readRun(index, run_id, signal);
        const { timeline, reader } = index;
        const run = timeline.run(run_id);
        if (run === undefined) throw missing("This session has no such run.");
        const facts: Fact[] = [];
        for (let offset = 0; offset < MOST_FACTS; offset += PAGE) {
          const page = await index.factsAt(timeline.seqsOf(run_id, offset, PAGE));
          signal.throwIfAborted();
          facts.push(...page);
          if (page.length < PAGE) break;
        }
        const lanes = timeline.lanesOf(run_id);
        const answer_node_id = lastAnswerNode(facts);
        const answer = answer_node_id === undefined ? undefined : await reader.node(answer_node_id);
        const prompt_node_id = timeline.promptNodeOf(run_id);
        return {
          session: sessionRow(index.record(), live?.state()),
          run,
          prompt:
            prompt_node_id === undefined ? "" : await readPrompt(reader, prompt_node_id, run_id),
          models: runModels(facts),
          answer: nodeText(answer).slice(0, MOST_ANSWER_CHARS),
          calls: recordedCalls(lanes.slice(0, MOST_CALLS), facts),
          omitted: Math.max(0, lanes.length - MOST_CALLS),
        };
      },
    },
  };
}
