// Requests about the whole home: its overview, its sessions by a filter, a text in all conversations.

import type { SessionGroup } from "../wire/overview-records.ts";
import type { HomeStore } from "./home-store.ts";
import { listSessions, type SessionPlace } from "./list-sessions.ts";
import { readOverview } from "./overview.ts";
import { bad, type InspectorPorts } from "./ports.ts";
import { wholeNumber, type Handlers } from "./router.ts";
import type { Redact } from "./safe-cut.ts";
import { searchTranscripts } from "./search-transcripts.ts";
import type { SessionSummaries } from "./session-summaries.ts";

const MOST_SESSIONS = 500;
const GROUPS: readonly (string | undefined)[] = ["conversations", "calls"];

export interface HomeHandlerParts {
  readonly store: HomeStore;
  readonly summaries: SessionSummaries;
  readonly ports: Pick<InspectorPorts, "live" | "summaries">;
  readonly redact: Redact;
}

type HomeHandlers = Pick<Handlers, "GET /api/home" | "GET /api/sessions" | "GET /api/search">;

export function homeHandlers({ store, summaries, ports, redact }: HomeHandlerParts): HomeHandlers {
  return {
    "GET /api/home": {
      query: ["since"],
      async handle({ query }) {
        const since = readTime(query.needed("since"));
        const opened = await store.find();
        if (opened === undefined) return { running: [], failed: [], projects: [] };
        const live = ports.live?.state();
        const port = ports.summaries;
        return readOverview({ store: opened, summaries, port, live, since, now: Date.now() });
      },
    },
    "GET /api/sessions": {
      query: ["after", "limit", "group", "status", "project", "tool", "text"],
      async handle({ query, signal }) {
        const limit = query.whole("limit", 1, MOST_SESSIONS, 100);
        const after = placeAfter(query.text("after"));
        const group = query.text("group");
        if (group !== undefined && !GROUPS.includes(group)) {
          throw bad("group is conversations or calls.");
        }
        const filter = {
          status: query.text("status"),
          project: query.text("project"),
          tool: query.text("tool"),
          text: query.text("text"),
        };
        const opened = await store.find();
        if (opened === undefined) return { sessions: [] };
        const asked = { limit, after, group: group as SessionGroup | undefined, filter, signal };
        return listSessions(opened, summaries, asked);
      },
    },
    "GET /api/search": {
      query: ["q", "before"],
      async handle({ query, signal }) {
        const text = query.needed("q");
        const given = query.text("before");
        const before =
          given === undefined
            ? undefined
            : wholeNumber("before", given, 0, Number.MAX_SAFE_INTEGER);
        const opened = await store.find();
        if (opened === undefined) return { hits: [] };
        return searchTranscripts(opened, { text, before, redact, signal });
      },
    },
  };
}

function placeAfter(text: string | undefined): SessionPlace | undefined {
  if (text === undefined) return undefined;
  const border = text.indexOf(" ");
  if (border < 1) throw bad("after must be the next of an earlier list.");
  return { updated_at: text.slice(0, border), session_id: text.slice(border + 1) };
}

/** Times on record compare as texts, so it has to be written as they are. */
function readTime(text: string): string {
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw bad("since must be a time.");
}
