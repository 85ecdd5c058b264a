// What is kept of a session, by pages: the list of sessions, its facts, its conversation.

import type { Fact } from "@soong/core";
import type { SessionRecord } from "@soong/store";
import { conversation, factLine } from "../timeline/index.ts";
import type { FactRow } from "../wire/index.ts";
import { bad, wholeNumber, type HandlerParts, type Handlers } from "./handler.ts";
import { InspectorError } from "./ports.ts";
import { sessionRow } from "./session-rows.ts";

const MOST_SESSIONS = 500;
const MOST_FACTS = 1000;
const MOST_SEQ = 2 ** 32 - 1;

type Own =
  | "GET /api/sessions"
  | "GET /api/sessions/:session_id/facts"
  | "GET /api/sessions/:session_id/facts/:seq"
  | "GET /api/sessions/:session_id/conversation";

export function sessionHandlers({ store, indexes, ports }: HandlerParts): Pick<Handlers, Own> {
  const row = (fact: Fact): FactRow => factLine(fact, ports.factTexts);
  return {
    "GET /api/sessions": {
      query: ["after", "limit"],
      async handle({ query }) {
        const limit = query.whole("limit", { min: 1, max: MOST_SESSIONS, otherwise: 100 });
        const text = query.text("after");
        const after = text === undefined ? undefined : placeAfter(text);
        const opened = await store.find();
        const found =
          (await opened?.sessions({
            limit: limit + 1,
            after,
          })) ?? [];
        const page = found.slice(0, limit);
        const last = page.at(-1);
        return {
          sessions: page.map((record) => sessionRow(record, ports.live?.state())),
          ...(found.length > limit && last !== undefined ? { next: placeOf(last) } : {}),
        };
      },
    },
    "GET /api/sessions/:session_id/facts": {
      query: ["offset", "limit", "run_id"],
      async handle({ parts: { session_id }, query, signal }) {
        const offset = query.whole("offset", { min: 0, max: MOST_SEQ });
        const limit = query.whole("limit", { min: 1, max: MOST_FACTS });
        const run_id = query.text("run_id");
        const index = await indexes.of(session_id);
        if (run_id === undefined) {
          const { last_seq } = await index.reader.record();
          const facts = await index.reader.facts({ after: offset, limit });
          return { total: last_seq, offset, rows: facts.map(row) };
        }
        await index.readAll(signal);
        const { timeline } = index;
        if (timeline.run(run_id) === undefined) {
          throw new InspectorError("not_found", "This session has no such run.");
        }
        const facts = await index.factsAt(timeline.seqsOf(run_id, offset, limit));
        return { total: timeline.countFacts(run_id), offset, rows: facts.map(row) };
      },
    },
    "GET /api/sessions/:session_id/facts/:seq": {
      async handle({ parts: { session_id, seq: text } }) {
        const seq = wholeNumber("The number of a fact", text, { min: 1, max: MOST_SEQ });
        const { reader } = await indexes.of(session_id);
        // Says so when the session is gone.
        await reader.record();
        const [fact] = await reader.facts({ after: seq - 1, limit: 1 });
        if (fact?.seq === seq) return { fact };
        throw new InspectorError("not_found", `This session has no fact ${seq}.`);
      },
    },
    "GET /api/sessions/:session_id/conversation": {
      query: ["agent_id", "before"],
      async handle({ parts: { session_id }, query }) {
        const agent_id = query.needed("agent_id");
        const before = query.text("before");
        const { reader } = await indexes.of(session_id);
        const agents = await reader.agents();
        if (!agents.some((agent) => agent.agent_id === agent_id)) {
          throw new InspectorError("not_found", "This session has no such agent.");
        }
        const path = await reader.activePath(agent_id);
        return conversation(path, { agent_id, before });
      },
    },
  };
}

function placeOf({ updated_at, session_id }: Pick<SessionRecord, "updated_at" | "session_id">) {
  return `${updated_at} ${session_id}`;
}

function placeAfter(text: string): Pick<SessionRecord, "updated_at" | "session_id"> {
  const border = text.indexOf(" ");
  if (border < 1) throw bad("after must be the next of an earlier list.");
  return { updated_at: text.slice(0, border), session_id: text.slice(border + 1) };
}
