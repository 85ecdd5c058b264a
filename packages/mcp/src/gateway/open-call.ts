// One call that has not ended, and the request of the client that waits for it. In the older protocol that is
// one request, and questions are put beside it. In the newer a question ends the request: the call stays open
// and continues with the request that brings the answer (multi round trip).

import { randomUUID } from "node:crypto";
import type { JsonObject, ToolResult } from "@soong/core";
import type { Abilities, ClientAnswer, ClientQuestion } from "./client-question.ts";
import type { McpProgress } from "../connection/connected-server.ts";
import type { Place } from "./lane.ts";

/** The request that is being answered. */
export interface Waiter {
  readonly request_id: string | number;
  readonly client: string;
  /** The client gave the request up, or is gone. */
  readonly signal: AbortSignal;
  readonly abilities: Abilities;
  /** Nothing says which other requests are of the same client. */
  readonly standsAlone: boolean;
  /** Puts a question beside the request. Default: a question ends it. */
  readonly push?: (question: ClientQuestion, signal: AbortSignal) => Promise<ClientAnswer>;
  readonly progress?: (update: McpProgress) => void;
  /** How much of what a server logs the client wants to hear; default: nothing. */
  readonly logLevel?: string;
  readonly log?: (entry: JsonObject) => void;
}

export type Answers = ReadonlyMap<string, ClientAnswer>;

export type Step =
  | { readonly kind: "ended"; readonly result: ToolResult }
  | { readonly kind: "asks"; readonly questions: ReadonlyMap<string, ClientQuestion> };

export type OpenCall = ReturnType<typeof createOpenCall>;

interface OpenQuestion {
  readonly question: ClientQuestion;
  readonly resolve: (answer: ClientAnswer) => void;
}

/** `brought`: answers that came with the first request, for questions its client expects to be asked. */
export function createOpenCall(fingerprint: () => string, brought: Answers = new Map()) {
  const unwanted = new AbortController();
  const unwantedSignal: AbortSignal = unwanted.signal;
  /** Only for a call that asks something. */
  let over: AbortController | undefined;
  const questions = new Map<string, OpenQuestion>();
  const ready = new Map(brought);
  /** Names of questions that come together and have not all come yet; and in which order they are shown. */
  const expected = new Set<string>();
  let order: readonly string[] = [];
  let result: ToolResult | undefined;
  let waiter: Waiter | undefined;
  /** Also between two requests of a client that comes back with answers. */
  let last: Waiter | undefined;
  let wake: (() => void) | undefined;
  let place: Place | undefined;
  let waits = 0;
  let sent = -1;
  let hasCounted = false;

  // Plain fields for what changes: a getter of an object literal would cost a hidden class for every call.
  const call = {
    id: `call_${randomUUID()}`,
    /** What was asked for, to hold against the request that brings an answer. */
    fingerprint,
    /** Aborted when no one wants the call any more. */
    unwanted: unwantedSignal,
    isFor: (request_id: string | number) => waiter?.request_id === request_id,
    client: "unknown",
    /** Whether the other calls of its run may be another client's. */
    standsAlone: false,
    logLevel: undefined as string | undefined,
    can: (ability: keyof Abilities) => last?.abilities[ability] === true,
    /**
     * Questions come together, under these names: they are not to be put one by one. What it returns is called for
     * each that has come, or will not come any more.
     */
    expect(keys: readonly string[]): (key: string) => void {
      order = keys;
      for (const key of keys) expected.add(key);
      return (key) => {
        if (expected.delete(key)) wake?.();
      };
    },
    put,
    follow,
    answer(answers: Answers): void {
      for (const [key, given] of answers) {
        const open = questions.get(key);
        if (open?.question.kind !== given.kind) continue;
        questions.delete(key);
        open.resolve(given);
      }
    },
    reached: reportProgress,
    logged: (entry: JsonObject) => waiter?.log?.(entry),
    enters(entered: Place): void {
      place = entered;
    },
    ends(ended: ToolResult): void {
      result = ended;
      place?.end();
      over?.abort("the call has ended");
      wake?.();
    },
    giveUp(reason: string): void {
      unwanted.abort(reason);
    },
  };
  return call;

  /** Rejects when the client cannot be asked after all. The answer is of the question's kind. */
  async function put(
    question: ClientQuestion,
    { signal, key }: { readonly signal: AbortSignal; readonly key?: string | undefined },
  ): Promise<ClientAnswer> {
    const known = key === undefined ? undefined : ready.get(key);
    if (key !== undefined && known?.kind === question.kind) {
      ready.delete(key);
      return known;
    }
    if (result !== undefined) throw createEndedError();
    over ??= new AbortController();
    const gone = AbortSignal.any([signal, over.signal]);
    waits += 1;
    place?.leave();
    try {
      if (gone.aborted) throw createEndedError();
      return await (last?.push === undefined
        ? endRequest(question, key, gone)
        : last.push(question, gone));
    } finally {
      waits -= 1;
      if (waits === 0) await place?.again();
    }
  }

  function endRequest(
    question: ClientQuestion,
    wanted: string | undefined,
    gone: AbortSignal,
  ): Promise<ClientAnswer> {
    const isFree = wanted !== undefined && !questions.has(wanted);
    const key = isFree ? wanted : `question_${randomUUID()}`;
    return new Promise((resolve, reject) => {
      const takeBack = (): void => {
        questions.delete(key);
        reject(createEndedError());
      };
      gone.addEventListener("abort", takeBack);
      questions.set(key, {
        question,
        resolve(answer) {
          gone.removeEventListener("abort", takeBack);
          resolve(answer);
        },
      });
      if (wanted !== undefined) expected.delete(wanted);
      wake?.();
    });
  }

  /** Waits for the end of the call, or for questions to end this request with. */
  async function follow(request: Waiter): Promise<Step> {
    waiter = request;
    last = request;
    call.client = request.client;
    call.standsAlone = request.standsAlone;
    call.logLevel = request.logLevel;
    const gone = (): void => {
      const said: unknown = request.signal.reason;
      unwanted.abort(typeof said === "string" ? said : "the client has disconnected");
    };
    if (request.signal.aborted) gone();
    else request.signal.addEventListener("abort", gone);
    try {
      for (;;) {
        const step = nextStep();
        if (step !== undefined) return step;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      request.signal.removeEventListener("abort", gone);
      waiter = undefined;
    }
  }

  function nextStep(): Step | undefined {
    if (result !== undefined) return { kind: "ended", result };
    if (questions.size === 0 || expected.size > 0) return undefined;
    const asked = [...questions].map(([key, { question }]) => [key, question] as const);
    const inOrder = asked.toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other));
    return { kind: "asks", questions: new Map(inOrder) };
  }

  /** It must grow from one notification to the next, even if the tool's does not. */
  function reportProgress(update: Partial<McpProgress>): void {
    const { progress, total, message } = update;
    hasCounted ||= progress !== undefined;
    const next = progress ?? (hasCounted ? sent : Math.max(sent, 0) + 1);
    if (next <= sent || waiter?.progress === undefined) return;
    sent = next;
    waiter.progress({ progress: next, total, message });
  }
}

function createEndedError(): Error {
  return new Error("the call has ended");
}
