// What each method of the protocol does. Params come from another process: each is looked at before it counts.

import {
  type ElicitationAnswer,
  type PermissionAnswer,
  boundFact,
  readPermissionAnswer,
} from "@soong/core";
import { isJsonObject } from "@soong/schema";
import type { Outcome, Question } from "./approval-broker.ts";
import { readElicitationAnswer } from "./stored-questions.ts";
import type { Challenge, Peer } from "./peer.ts";
import {
  ControlError,
  type ControlEvent,
  type ControlMethod,
  type ControlMethods,
  type ListedQuestion,
  type SettledQuestion,
} from "./protocol.ts";
import type { ControlSubject } from "./watch-session.ts";

export interface Client {
  readonly subject: ControlSubject;
  push(event: ControlEvent): void;
  /** When it has taken what was sent, or is gone. */
  drained(): Promise<void>;
  isGone(): boolean;
  /** How it shows who it is; undefined where the system could not tell. */
  challenge(): Challenge | undefined;
  /** Known by now, or turned away. */
  peer: Peer | ControlError | undefined;
  attending: { readonly name: string; stop(): void } | undefined;
  following: { readonly done: Promise<void>; stop(): void } | undefined;
}

type Params = Readonly<Record<string, unknown>>;

export function answerRequest(
  client: Client,
  method: string,
  params: Params,
): object | Promise<object> {
  if (Object.hasOwn(METHODS, method)) return METHODS[method as ControlMethod](client, params);
  const known = Object.keys(METHODS).join(", ");
  throw new ControlError("unknown_method", `There is no such method. There are ${known}.`);
}

const METHODS: {
  readonly [M in ControlMethod]: (
    client: Client,
    params: Params,
  ) => ControlMethods[M]["result"] | Promise<ControlMethods[M]["result"]>;
} = {
  hello: ({ subject }) => subject.hello(),
  identify,
  "grants.list": ({ subject }) => ({ grants: subject.grants() }),
  "grants.revoke"(client, params) {
    const grant_id = text(params, "grant_id");
    requirePeer(client);
    const grant = client.subject.revokeGrant(grant_id);
    if (grant === undefined) throw new ControlError("not_found", "There is no such grant.");
    return { grant };
  },
  "questions.list": ({ subject: { broker } }) => ({
    questions: [
      ...broker.open().map((question) => listed("permission", question)),
      ...broker.openElicitations().map((question) => listed("elicitation", question)),
    ],
  }),
  "questions.attend": attend,
  "questions.leave"(client) {
    client.attending?.stop();
    client.attending = undefined;
    return {};
  },
  "questions.answer": answerQuestion,
  "facts.follow": follow,
  "run.abort"(client, params) {
    const reason = optionalText(params, "reason") ?? "aborted from another terminal";
    const run_id = optionalText(params, "run_id");
    requirePeer(client);
    const run_ids = client.subject.abort(run_id, reason);
    if (run_ids.length > 0) return { run_ids };
    throw new ControlError("not_found", "There is no such run under way.");
  },
};

const KINDS: readonly unknown[] = ["permission", "elicitation"] satisfies ListedQuestion["kind"][];

/** Told of every question, also of those that are open; it answers with `questions.answer`. */
function attend(client: Client, params: Params): Record<string, never> {
  const name = nameOf(params);
  const { kinds = KINDS } = params;
  if (!Array.isArray(kinds) || !kinds.every((kind) => KINDS.includes(kind))) {
    throw new ControlError("bad_params", `kinds is a list of ${KINDS.join(" and ")}.`);
  }
  requirePeer(client);
  client.attending?.stop();
  let isHere = true;
  const stop = client.subject.broker.addResponder({
    ask: async (question, settled) =>
      kinds.includes("permission") ? shown(listed("permission", question), settled) : undefined,
    ...(kinds.includes("elicitation") && {
      elicit: (question, settled) => shown(listed("elicitation", question), settled),
    }),
  });
  client.attending = {
    name,
    stop() {
      isHere = false;
      stop();
    },
  };
  return {};

  function shown(question: ListedQuestion, settled: AbortSignal): Promise<undefined> {
    client.push({ event: "question.opened", data: question });
    return new Promise((resolve) => {
      const tell = (): void => {
        const outcome = settled.reason as Outcome<PermissionAnswer | ElicitationAnswer>;
        const data = settledQuestion(question.question_id, outcome);
        if (isHere) client.push({ event: "question.settled", data });
        resolve(undefined);
      };
      settled.addEventListener("abort", tell, { once: true });
    });
  }
}

/** Once: it stays the same process. */
function identify(client: Client, { pid, descriptor }: Params): { open?: string } {
  const challenge = client.challenge();
  if (challenge === undefined) client.peer = { isTerminal: false };
  if (client.peer instanceof ControlError) throw client.peer;
  if (challenge === undefined || client.peer !== undefined) return {};
  if (pid === undefined && descriptor === undefined) return { open: challenge.path };
  if (!Number.isSafeInteger(pid) || !Number.isSafeInteger(descriptor)) {
    throw new ControlError("bad_params", "pid and descriptor are whole numbers.");
  }
  try {
    client.peer = challenge.identify(pid as number, descriptor as number);
  } catch (error) {
    if (error instanceof ControlError && error.code === "refused") client.peer = error;
    throw error;
  }
  return {};
}

/** Only who is known acts: a program that the runtime has started would act for a user. */
function requirePeer({ peer }: Client): Peer {
  if (peer instanceof ControlError) throw peer;
  if (peer !== undefined) return peer;
  throw new ControlError(
    "not_identified",
    "Say who you are first: `identify` names a file; open it, then give your pid and the descriptor.",
  );
}

/** On record: only what is at a terminal is called one. */
function responderOf(client: Client, params: Params): string {
  const { isTerminal } = requirePeer(client);
  const name = nameOf(params) || (client.attending?.name ?? "");
  if (name === "") return "control";
  return `control:${/terminal/i.test(name) && !isTerminal ? "program" : name}`;
}

async function answerQuestion(client: Client, params: Params): Promise<Record<string, never>> {
  const { subject } = client;
  const question_id = text(params, "question_id");
  const reason = optionalText(params, "reason");
  const { decision, action, content, always } = params;
  let isTaken: boolean;
  // The rule is the one that was shown: from here it cannot be another.
  const where = isJsonObject(always) && { always: { where: always["where"] } };
  const answer = action === undefined ? readPermissionAnswer({ decision, reason, ...where }) : "";
  const given = readElicitationAnswer({ action, content });
  if (typeof answer === "object") {
    const answered_by = responderOf(client, params);
    isTaken = await subject.broker.answer(question_id, { ...answer, answered_by });
  } else if (given !== undefined) {
    requirePeer(client);
    isTaken = await subject.broker.answerElicitation(question_id, given);
  } else {
    throw new ControlError(
      "bad_params",
      "A question about a call is answered with a decision (allow_once, allow_for_session or deny), one of a tool with an action (accept, decline or cancel).",
    );
  }
  if (isTaken) return {};
  const by = await subject.answeredBy(question_id);
  throw new ControlError(
    "not_found",
    by === undefined
      ? "No such question is open: it was answered, or its call is gone."
      : `This question was answered already, by ${by}.`,
  );
}

function follow(client: Client, params: Params): { after: number } {
  if (client.following !== undefined) {
    throw new ControlError("bad_params", "This connection follows the facts already.");
  }
  const { after = 0 } = params;
  if (typeof after !== "number" || !Number.isSafeInteger(after) || after < 0) {
    throw new ControlError("bad_params", "after is the seq of a fact, or 0.");
  }
  const run_id = optionalText(params, "run_id");
  const facts = client.subject.facts({ after, run_id });
  client.following = { done: sendAll(), stop: () => void facts.return?.() };
  return { after };

  /** One at a time, and none before the last was taken: the journal holds the rest. */
  async function sendAll(): Promise<void> {
    let last_seq = after as number;
    let complete = false;
    try {
      for await (const fact of facts) {
        client.push({ event: "fact", data: boundFact(fact) });
        last_seq = fact.seq;
        await client.drained();
        if (client.isGone()) return;
      }
      complete = true;
    } catch {
      // The journal cannot be read here; the store may be, later.
    }
    client.push({ event: "facts.end", data: { last_seq, complete } });
  }
}

function listed<Kind extends ListedQuestion["kind"]>(
  kind: Kind,
  { question_id, asked_at, request }: Question<Extract<ListedQuestion, { kind: Kind }>["request"]>,
): ListedQuestion {
  const asked = new Date(asked_at).toISOString();
  return { kind, question_id, asked_at: asked, request } as ListedQuestion;
}

function settledQuestion(
  question_id: string,
  outcome: Outcome<PermissionAnswer | ElicitationAnswer>,
): SettledQuestion {
  if (outcome.kind !== "answered") return { question_id, outcome: outcome.kind };
  const { answer } = outcome;
  if ("action" in answer) return { question_id, outcome: "answered", action: answer.action };
  const { decision, answered_by } = answer;
  return { question_id, outcome: "answered", decision, answered_by };
}

const MAX_NAME_CHARS = 80;

function nameOf(params: Params): string {
  return (optionalText(params, "name") ?? "").slice(0, MAX_NAME_CHARS);
}

function text(params: Params, name: string): string {
  const value = optionalText(params, name);
  if (value !== undefined) return value;
  throw new ControlError("bad_params", `${name} is missing.`);
}

function optionalText(params: Params, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || typeof value === "string") return value;
  throw new ControlError("bad_params", `${name} is a text.`);
}
