// One client of a socket, from hello to its end, and what each method of the protocol does. Params come from another
// process: each is looked at before it counts. It is read no faster than it reads: what it sends, or does not
// fetch, costs the run nothing and little memory.

import { once } from "node:events";
import type { Socket } from "node:net";
import { boundFact, messageOf, type ElicitationAnswer, type PermissionAnswer } from "@soong/core";
import { createLineReader, LineTooLong } from "@soong/platform";
import { asRecord, isRecord } from "@soong/schema";
import type { Outcome, Question } from "./approval-broker.ts";
import { createChallenge, type Challenge, type Peer } from "./peer.ts";
import {
  ControlError,
  MAX_REQUEST_BYTES,
  type ControlAnswer,
  type ControlEvent,
  type ControlMethod,
  type ControlMethods,
  type ControlProblem,
  type ListedQuestion,
  type RequestId,
  type SettledQuestion,
} from "./protocol.ts";
import { readElicitationAnswer, readRelayedAnswer } from "./relayed-answer.ts";
import type { ControlSubject } from "./watch-session.ts";

/** What a client has not taken; beyond this it is let go, for it takes nothing. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
const HANG_UP_MS = 1000;
const KINDS: readonly unknown[] = ["permission", "elicitation"] satisfies ListedQuestion["kind"][];

type Params = Readonly<Record<string, unknown>>;

type Methods = {
  readonly [M in ControlMethod]: (
    params: Params,
  ) => ControlMethods[M]["result"] | Promise<ControlMethods[M]["result"]>;
};

/** Answers with how to finish: says the rest to anyone who takes it. */
export function serveClient(
  socket: Socket,
  subject: ControlSubject,
  folder: string,
): () => Promise<void> {
  const { broker } = subject;
  /** How it shows who it is; undefined where the system could not say. */
  let challenge: Challenge | undefined;
  /** Known by now, or turned away. */
  let peer: Peer | ControlError | undefined;
  let attending: { readonly name: string; stop(): void } | undefined;
  let stopText: (() => void) | undefined;
  let following: { readonly done: Promise<void>; stop(): void } | undefined;
  const methods: Methods = {
    hello: () => subject.hello(),
    identify,
    "grants.list": () => ({ grants: subject.grants() }),
    "grants.revoke"(params) {
      const grant_id = text(params, "grant_id");
      requirePeer();
      const grant = subject.revokeGrant(grant_id);
      if (grant === undefined) throw new ControlError("not_found", "There is no such grant.");
      return { grant };
    },
    "questions.list": () => ({
      questions: [
        ...broker.open().map((question) => listed("permission", question)),
        ...broker.openElicitations().map((question) => listed("elicitation", question)),
      ],
    }),
    "questions.attend": attend,
    "questions.leave"() {
      leave();
      return {};
    },
    "questions.answer": answerQuestion,
    "facts.follow": follow,
    "text.follow"() {
      stopText ??= subject.texts.follow((data) => push({ event: "text", data }));
      return {};
    },
    "run.abort"(params) {
      const reason = optionalText(params, "reason") ?? "aborted from another terminal";
      const run_id = optionalText(params, "run_id");
      requirePeer();
      const run_ids = subject.abort(run_id, reason);
      if (run_ids.length > 0) return { run_ids };
      throw new ControlError("not_found", "There is no such run under way.");
    },
  };
  socket.once("close", () => challenge?.close());
  push({ event: "hello", data: subject.hello() });
  void answerAll().then(
    () => {
      stopAll();
      end();
    },
    (error: unknown) => {
      stopAll();
      if (error instanceof LineTooLong) hangUp(error);
      // Else the connection broke, and there is no one to tell.
      else socket.destroy();
    },
  );

  return async () => {
    // The session is closed, so its facts have an end.
    await following?.done;
    if (socket.destroyed) return;
    end();
    await once(socket, "close").catch(() => {});
  };

  async function answerAll(): Promise<void> {
    const lines = createLineReader(MAX_REQUEST_BYTES);
    for await (const bytes of socket.iterator({ destroyOnReturn: false })) {
      for (const line of lines.take(bytes as Uint8Array)) await answer(line);
    }
    const rest = lines.rest();
    if (rest !== undefined) await answer(rest);
  }

  /** A client that is still sending learns why only if its input is read, for a moment. */
  function hangUp({ message }: LineTooLong): void {
    refuse(null, "line_too_long", `${message}. The connection is closed.`);
    socket.end();
    socket.resume();
    const enough = setTimeout(() => socket.destroy(), HANG_UP_MS).unref();
    socket.once("end", () => socket.destroy()).once("close", () => clearTimeout(enough));
  }

  async function answer(line: string): Promise<void> {
    if (line.trim() === "") return;
    // Also of a request that says nothing else right: its sender waits for the answer to it.
    let id: RequestId | null = null;
    try {
      const given = readLine(line);
      id = readId(given);
      const { method, params = {} } = given;
      if (id === null || typeof method !== "string" || !isRecord(params)) {
        throw new ControlError(
          "bad_request",
          "A request is an object with an id (a number or a short text), a method (a text) and params (an object).",
        );
      }
      send({ id, result: await answerRequest(method, params) });
    } catch (error) {
      if (error instanceof ControlError && error.code !== "unreachable") {
        refuse(id, error.code, error.message);
      } else refuse(id, "failed", messageOf(error));
    }
    await drained();
  }

  function refuse(id: RequestId | null, code: ControlProblem["code"], message: string): void {
    send({ id, error: { code, message } });
  }

  function push(event: ControlEvent): void {
    send(event);
    if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
  }

  function send(record: ControlAnswer | ControlEvent): void {
    if (socket.writable) socket.write(`${JSON.stringify(record)}\n`);
  }

  async function drained(): Promise<void> {
    if (socket.destroyed || !socket.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        socket.off("drain", go).off("close", go);
        resolve();
      };
      socket.on("drain", go).on("close", go);
    });
  }

  function leave(): void {
    attending?.stop();
    attending = undefined;
  }

  function stopAll(): void {
    leave();
    stopText?.();
    following?.stop();
  }

  function end(): void {
    if (!socket.destroyed) socket.end(() => socket.destroy());
  }

  function answerRequest(method: string, params: Params): object | Promise<object> {
    if (Object.hasOwn(methods, method)) return methods[method as ControlMethod](params);
    const known = Object.keys(methods).join(", ");
    throw new ControlError("unknown_method", `There is no such method. There are ${known}.`);
  }

  /** Receives every question, also of those that are open; it answers with `questions.answer`. */
  function attend(params: Params): Record<string, never> {
    const name = readName(params);
    const { kinds = KINDS } = params;
    if (!Array.isArray(kinds) || !kinds.every((kind) => KINDS.includes(kind))) {
      throw new ControlError("bad_params", `kinds is a list of ${KINDS.join(" and ")}.`);
    }
    requirePeer();
    attending?.stop();
    let isHere = true;
    const stop = broker.addResponder({
      ask: async (question, settled) =>
        kinds.includes("permission") ? shown(listed("permission", question), settled) : undefined,
      ...(kinds.includes("elicitation") && {
        elicit: (question, settled) => shown(listed("elicitation", question), settled),
      }),
    });
    attending = {
      name,
      stop() {
        isHere = false;
        stop();
      },
    };
    return {};

    function shown(question: ListedQuestion, settled: AbortSignal): Promise<undefined> {
      push({ event: "question.opened", data: question });
      return new Promise((resolve) => {
        const tell = (): void => {
          const outcome = settled.reason as Outcome<PermissionAnswer | ElicitationAnswer>;
          const data = settledQuestion(question.question_id, outcome);
          if (isHere) push({ event: "question.settled", data });
          resolve(undefined);
        };
        settled.addEventListener("abort", tell, { once: true });
      });
    }
  }

  /** Once: it stays the same process. */
  function identify({ pid, descriptor }: Params): { open?: string } {
    challenge ??= socket.destroyed ? undefined : createChallenge(folder);
    if (challenge === undefined) peer = { isTerminal: false };
    if (peer instanceof ControlError) throw peer;
    if (challenge === undefined || peer !== undefined) return {};
    if (pid === undefined && descriptor === undefined) return { open: challenge.path };
    if (!Number.isSafeInteger(pid) || !Number.isSafeInteger(descriptor)) {
      throw new ControlError("bad_params", "pid and descriptor are whole numbers.");
    }
    try {
      peer = challenge.identify(pid as number, descriptor as number);
    } catch (error) {
      if (error instanceof ControlError && error.code === "refused") peer = error;
      throw error;
    }
    return {};
  }

  /** Only who is known acts: a program that the runtime has started would act for a user. */
  function requirePeer(): Peer {
    if (peer instanceof ControlError) throw peer;
    if (peer !== undefined) return peer;
    throw new ControlError(
      "not_identified",
      "Say who you are first: `identify` names a file; open it, then give your pid and the descriptor.",
    );
  }

  /** On record: only what is at a terminal is called one. */
  function readResponder(params: Params): string {
    const { isTerminal } = requirePeer();
    const name = readName(params) || (attending?.name ?? "");
    if (name === "") return "control";
    return `control:${/terminal/i.test(name) && !isTerminal ? "program" : name}`;
  }

  async function answerQuestion(params: Params): Promise<Record<string, never>> {
    const question_id = text(params, "question_id");
    const { decision, reason, scope, always, action, content } = params;
    let isTaken: boolean;
    const answer =
      action === undefined ? readRelayedAnswer({ decision, reason, scope, always }) : "";
    const given = readElicitationAnswer({ action, content });
    if (typeof answer === "object") {
      const answered_by = readResponder(params);
      isTaken = await broker.answer(question_id, { ...answer, answered_by });
    } else if (typeof given === "object") {
      requirePeer();
      isTaken = await broker.answerElicitation(question_id, given);
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

  function follow(params: Params): { after: number } {
    if (following !== undefined) {
      throw new ControlError("bad_params", "This connection follows the facts already.");
    }
    const { after = 0 } = params;
    if (typeof after !== "number" || !Number.isSafeInteger(after) || after < 0) {
      throw new ControlError("bad_params", "after is the seq of a fact, or 0.");
    }
    const run_id = optionalText(params, "run_id");
    const facts = subject.facts({ after, run_id });
    following = { done: sendAll(), stop: () => void facts.return?.() };
    return { after };

    /** One at a time, and none before the last was taken: the journal holds the rest. */
    async function sendAll(): Promise<void> {
      let last_seq = after as number;
      let complete = false;
      try {
        for await (const fact of facts) {
          push({ event: "fact", data: boundFact(fact) });
          last_seq = fact.seq;
          await drained();
          if (socket.destroyed) return;
        }
        complete = true;
      } catch {
        // The journal cannot be read here; the store may be, later.
      }
      push({ event: "facts.end", data: { last_seq, complete } });
    }
  }
}

function readLine(line: string): Readonly<Record<string, unknown>> {
  try {
    return asRecord(JSON.parse(line));
  } catch {
    throw new ControlError("bad_request", "A line is one request in JSON; this one is not JSON.");
  }
}

const MAX_ID_CHARS = 200;

function readId({ id }: Readonly<Record<string, unknown>>): RequestId | null {
  const isId = typeof id === "number" || (typeof id === "string" && id.length <= MAX_ID_CHARS);
  return isId ? id : null;
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

function readName(params: Params): string {
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
