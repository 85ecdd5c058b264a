// One model request: what was sent, part by part, and what came back (MODEL-7).

import type { ModelCall, ModelRequest } from "@soong/agent";
import type { Fact } from "@soong/core";
import { asRecord, omitUndefined } from "@soong/schema";
import {
  compareRequests,
  describePart,
  splitRequest,
  type RequestParts,
} from "../timeline/request-story.ts";
import { soundFact } from "../timeline/sound-fact.ts";
import type { AttemptStory, SentStory } from "../wire/request-records.ts";
import { missing, type ReadRequest } from "./ports.ts";
import { createRecent } from "./recent.ts";
import type { Handlers } from "./router.ts";
import type { Redact } from "./safe-cut.ts";
import type { SessionIndex } from "./session-index.ts";
import type { SessionIndexes } from "./session-indexes.ts";

const PARTS = ["system", "tools", "messages"] as const;
const MOST_MESSAGES = 100;
const MOST_REQUEST = 1_000_000;
const MOST_PARTS = 100_000;
/** Requests that are kept in memory, since their parts are asked for one by one. */
const MOST_KEPT = 4;

type RequestHandlers = Pick<
  Handlers,
  Extract<keyof Handlers, `GET /api/sessions/:session_id/runs/:run_id/requests${string}`>
>;

interface Rebuilt {
  readonly facts: readonly Fact[];
  /** Undefined: it cannot be put together. */
  readonly sent: { readonly request: ModelRequest; readonly isExact: boolean } | undefined;
  readonly parts: RequestParts | undefined;
  readonly why: string;
}

const OLD = "An earlier version made this request.";

export function requestHandlers(
  indexes: SessionIndexes,
  read: ReadRequest | undefined,
  redact: Redact,
): RequestHandlers {
  const recent = createRecent<Promise<Rebuilt>>(MOST_KEPT);

  return {
    "GET /api/sessions/:session_id/runs/:run_id/requests/:request": {
      query: ["before"],
      async handle({ parts: { session_id, run_id, request }, query, signal }) {
        const index = await indexes.of(session_id);
        await index.readAll(signal);
        const number = readRequestNumber(request);
        const row = index.timeline.request(run_id, number);
        if (row === undefined) throw missing("This run made no such request.");
        const now = await rebuild(index, run_id, number);
        const before = await rebuild(index, run_id, number - 1);
        const until = query.whole("before", 0, MOST_PARTS, MOST_PARTS);
        return {
          session_id,
          row,
          sent: describeSent(now, before, number, until),
          attempts: await describeAttempts(index, now.facts),
        };
      },
    },
    "GET /api/sessions/:session_id/runs/:run_id/requests/:request/parts/:part": {
      async handle({ parts: { session_id, run_id, request, part }, signal }) {
        const index = await indexes.of(session_id);
        await index.readAll(signal);
        const { parts } = await rebuild(index, run_id, readRequestNumber(request));
        const [list = "", place = ""] = part.split(":");
        const name = PARTS.find((known) => known === list);
        const text = name && parts?.[name][Number(place)]?.text;
        if (text === undefined) throw missing("This request has no such part.");
        return { text };
      },
    },
  };

  function rebuild(index: SessionIndex, run_id: string, request: number): Promise<Rebuilt> {
    const seqs = index.requests.seqsOf(run_id, request);
    const key = JSON.stringify([index.id, run_id, request, seqs.length]);
    return recent(key, async () => {
      const facts = (await index.factsAt(seqs)).map(soundFact);
      const contexts = await index.factsAt(index.requests.contextsOf(run_id, request));
      const started = facts.filter((fact) => fact.type === "model.started").at(-1);
      const nothing = { facts, sent: undefined, parts: undefined };
      if (started?.type !== "model.started" || read === undefined) return { ...nothing, why: OLD };
      const sent = await read(index.recorded, {
        run_id,
        started: started.data,
        contexts: contexts.flatMap((fact) => (fact.type === "context.resolved" ? [fact.data] : [])),
      });
      if (sent === undefined) return { ...nothing, why: OLD };
      if ("problem" in sent) return { ...nothing, why: sent.problem };
      return { facts, sent, parts: splitRequest(sent.request, redact), why: "" };
    });
  }

  function describeSent(now: Rebuilt, before: Rebuilt, number: number, until: number): SentStory {
    const { sent, parts, why } = now;
    if (sent === undefined || parts === undefined)
      return { state: "not_recorded", why: redact(why) };
    const earlier = before.parts;
    const describe = (list: keyof RequestParts) =>
      parts[list].map((one, i) => {
        // A tool is the same one wherever it is in the list.
        const same = earlier?.[list].find(({ name }) => list === "tools" && name === one.name);
        return describePart(one, same ?? earlier?.[list][i], earlier !== undefined);
      });
    const messages = describe("messages");
    const end = Math.min(until, messages.length);
    const {
      system: _,
      tools: __,
      messages: ___,
      ...settings
    } = "request" in sent ? sent.request : ({} as never);
    return {
      state: sent.isExact ? "exact" : "differs",
      settings: Object.entries(settings).map(([name, value]) => [name, String(value)] as const),
      system: describe("system"),
      tools: describe("tools"),
      messages: messages.slice(Math.max(0, end - MOST_MESSAGES), end),
      earlier: Math.max(0, end - MOST_MESSAGES),
      ...(earlier && { changes: compareRequests(number - 1, parts, earlier) }),
    };
  }

  async function describeAttempts(
    { reader }: SessionIndex,
    facts: readonly Fact[],
  ): Promise<AttemptStory[]> {
    const attempts: AttemptStory[] = [];
    for (const fact of facts) {
      if (fact.type === "model.started") {
        const { attempt, model, settings } = fact.data;
        const added = settings && redact(JSON.stringify(settings));
        attempts.push({
          attempt,
          model,
          seq: fact.seq,
          calls: [],
          ...omitUndefined({ settings: added }),
        });
      }
      if (fact.type !== "model.completed" && fact.type !== "model.failed") continue;
      const last = attempts.at(-1);
      if (last === undefined) continue;
      const { received = {}, node_id, usage, first_token_ms } = fact.data;
      const node = node_id === undefined ? undefined : await reader.node(node_id);
      const { calls: asked, provider_data } = node?.data ?? {};
      const nodeText = node?.content.map((block) => ("text" in block ? block.text : "")).join("\n");
      const text = received.text ?? nodeText;
      const calls = received.calls ?? readCalls(asked);
      const partial = (received.partial_calls ?? []).map((one) => ({ ...one, is_partial: true }));
      const extra =
        provider_data === undefined ? undefined : JSON.stringify(provider_data, null, 2);
      attempts[attempts.length - 1] = {
        ...last,
        calls: [...calls, ...partial].map((one) => ({ ...one, arguments: redact(one.arguments) })),
        ...omitUndefined({
          text: text && redact(text),
          reasoning: received.reasoning && redact(received.reasoning),
          provider_data: extra && redact(extra),
          stop: fact.type === "model.completed" ? fact.data.stop : undefined,
          error: fact.type === "model.failed" ? redact(fact.data.error.message) : undefined,
          usage,
          first_token_ms,
        }),
      };
    }
    return attempts;
  }
}

function readRequestNumber(text: string): number {
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > MOST_REQUEST) throw missing("This run made no such request.");
  return number;
}

function readCalls(given: unknown): ModelCall[] {
  return Array.isArray(given) ? given.filter(isCall) : [];
}

function isCall(value: unknown): value is ModelCall {
  const call = asRecord(value);
  return ["tool_call_id", "name", "arguments"].every((field) => typeof call[field] === "string");
}
