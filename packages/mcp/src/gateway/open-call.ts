// One call that has not ended, and the request of the client that waits for it. In the older protocol that is
// one request, and questions are put beside it. In the newer a question ends the request: the call stays open
// and goes on with the request that brings the answer (multi round trip).

import { randomUUID } from "node:crypto";
import type { ElicitationAnswer, ElicitationRequest, Signal, ToolResult } from "@soong/core";
import type { AnsweringCall } from "./desk.ts";
import type { Place } from "./lane.ts";

/** The request that is being answered. */
export interface Waiter {
  readonly request_id: string | number;
  readonly client: string;
  /** The client gave the request up, or is gone. */
  readonly signal: AbortSignal;
  readonly modes: Readonly<Record<ElicitationRequest["mode"], boolean>>;
  /** Puts a question beside the request. Left out: a question ends it. */
  readonly push?: (question: ElicitationRequest, signal: AbortSignal) => Promise<ElicitationAnswer>;
  readonly progress?: (update: Progress) => void;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export type Step =
  | { readonly kind: "ended"; readonly result: ToolResult }
  | { readonly kind: "asks"; readonly questions: ReadonlyMap<string, ElicitationRequest> };

export interface OpenCall extends AnsweringCall {
  readonly id: string;
  /** What was asked for, to hold against the request that brings an answer. */
  readonly fingerprint: string;
  /** Aborted when nobody wants the call any more. */
  readonly unwanted: AbortSignal;
  /** Nobody may be answered by it twice. */
  readonly isAttached: boolean;
  isFor(request_id: string | number): boolean;
  /** Waits for the end of the call, or for questions to end this request with. */
  follow(waiter: Waiter): Promise<Step>;
  answer(answers: ReadonlyMap<string, ElicitationAnswer>): void;
  reached(update: Partial<Progress>): void;
  enters(place: Place): void;
  ends(result: ToolResult): void;
  giveUp(reason: string): void;
}

interface OpenQuestion {
  readonly question: ElicitationRequest;
  readonly resolve: (answer: ElicitationAnswer) => void;
}

export function createOpenCall(fingerprint: string): OpenCall {
  const id = `call_${randomUUID()}`;
  const unwanted = new AbortController();
  const over = new AbortController();
  const questions = new Map<string, OpenQuestion>();
  let result: ToolResult | undefined;
  let waiter: Waiter | undefined;
  /** Also between two requests of a client that comes back with answers. */
  let last: Waiter | undefined;
  let wake: (() => void) | undefined;
  let place: Place | undefined;
  let told = 0;
  let hasCounted = false;

  return {
    id,
    fingerprint,
    unwanted: unwanted.signal,
    get isAttached() {
      return waiter !== undefined;
    },
    isFor: (request_id) => waiter?.request_id === request_id,
    get client() {
      return last?.client ?? "unknown";
    },
    canAnswer: (mode) => last?.modes[mode] === true,
    put,
    follow,
    answer(answers) {
      for (const [key, given] of answers) {
        questions.get(key)?.resolve(given);
        questions.delete(key);
      }
    },
    reached,
    enters(entered) {
      place = entered;
    },
    ends(ended) {
      result = ended;
      place?.leave();
      over.abort();
      wake?.();
    },
    giveUp(reason) {
      unwanted.abort(reason);
    },
  };

  async function put(question: ElicitationRequest, signal: Signal): Promise<ElicitationAnswer> {
    const gone = AbortSignal.any([signal, over.signal]);
    place?.leave();
    try {
      return await (last?.push === undefined
        ? endRequest(question, gone)
        : last.push(question, gone));
    } finally {
      await place?.again();
    }
  }

  function endRequest(question: ElicitationRequest, gone: AbortSignal): Promise<ElicitationAnswer> {
    const key = `question_${randomUUID()}`;
    return new Promise((resolve, reject) => {
      questions.set(key, { question, resolve });
      gone.addEventListener("abort", () => {
        questions.delete(key);
        reject(new Error("the call has ended"));
      });
      wake?.();
    });
  }

  async function follow(request: Waiter): Promise<Step> {
    waiter = request;
    last = request;
    const gone = (): void => unwanted.abort(String(request.signal.reason ?? "cancelled"));
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
    if (questions.size === 0) return undefined;
    const asked = [...questions].map(([key, { question }]) => [key, question] as const);
    return { kind: "asks", questions: new Map(asked) };
  }

  /** It must grow from one notification to the next, whatever the tool says. */
  function reached(update: Partial<Progress>): void {
    const { progress, total, message } = update;
    hasCounted ||= progress !== undefined;
    const next = progress ?? (hasCounted ? told : told + 1);
    if (next <= told || waiter?.progress === undefined) return;
    told = next;
    waiter.progress({
      progress: next,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    });
  }
}
