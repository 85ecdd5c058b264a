// Questions that wait for the first of several to answer. The others are told that it is settled, and how.

import { randomUUID } from "node:crypto";
import { NobodyToAsk } from "@soong/core";

export interface Question<Request> {
  readonly question_id: string;
  readonly request: Request;
  /** Milliseconds since the epoch, for people. */
  readonly asked_at: number;
}

/** Undefined: no answer from here; the others may still give one. */
export type Responder<Request, Answer> = (
  question: Question<Request>,
  /** Aborted with an `Outcome` as its reason. */
  settled: AbortSignal,
) => Promise<Answer | undefined>;

export type Outcome<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer }
  /** The call is gone, or did not wait any longer. */
  | { readonly kind: "cancelled" }
  | { readonly kind: "nobody" };

/** A question that other processes may answer, too. */
export interface SharedQuestion<Answer> {
  readonly question_id: string;
  /** The answer that counts: the given one, or one that came first. */
  claim(answer: Answer): Promise<Answer>;
}

export interface FirstAnswer<Request, Answer> {
  /** Rejects when no one attends, or no one is left who could still answer. */
  ask(request: Request, cancelled: AbortSignal, shared?: SharedQuestion<Answer>): Promise<Answer>;
  open(): readonly Question<Request>[];
  responders(): number;
  /** False: there is no such question, or another answer counts. */
  answer(question_id: string, answer: Answer): Promise<boolean>;
  /** From now on asked, also what is open already. The function ends it. */
  addResponder(responder: Responder<Request, Answer>): () => void;
}

/** `nobody`: what to say when no one is there. */
export function createFirstAnswer<Request, Answer>(
  nobody: (request: Request) => string,
): FirstAnswer<Request, Answer> {
  const responders = new Set<Responder<Request, Answer>>();
  const waiting = new Map<string, Waiting<Request, Answer>>();

  return {
    ask: (request, cancelled, shared) =>
      new Promise((resolve, reject) => {
        const question_id = shared?.question_id ?? randomUUID();
        const question = { question_id, request, asked_at: Date.now() };
        const settled = new AbortController();
        const cancel = (): void => one.settle({ kind: "cancelled" });
        const one: Waiting<Request, Answer> = {
          question,
          settled: settled.signal,
          asking: new Set(),
          failure: undefined,
          shared,
          isTaken: false,
          settle(outcome) {
            if (!waiting.delete(question.question_id)) return;
            cancelled.removeEventListener("abort", cancel);
            settled.abort(outcome);
            if (outcome.kind === "answered") resolve(outcome.answer);
            else if (outcome.kind === "cancelled") reject(new Error("the call is gone"));
            else reject(one.failure ?? new NobodyToAsk(nobody(request)));
          },
        };
        waiting.set(question.question_id, one);
        cancelled.addEventListener("abort", cancel);
        if (cancelled.aborted) cancel();
        else {
          for (const responder of responders) put(one, responder);
          endIfNobody(one);
        }
      }),
    open: () => [...waiting.values()].map(({ question }) => question),
    responders: () => responders.size,
    async answer(question_id, answer) {
      const one = waiting.get(question_id);
      return one !== undefined && take(one, answer);
    },
    addResponder(responder) {
      responders.add(responder);
      for (const one of waiting.values()) put(one, responder);
      return () => {
        responders.delete(responder);
        for (const one of waiting.values()) withdraw(one, responder);
      };
    },
  };

  function put(one: Waiting<Request, Answer>, responder: Responder<Request, Answer>): void {
    one.asking.add(responder);
    // Through a promise of our own: whoever attends may throw before there is one.
    new Promise<Answer | undefined>((resolve) => {
      resolve(responder(one.question, one.settled));
    }).then(
      (answer) => {
        if (answer === undefined) withdraw(one, responder);
        // What it says of a failure, whoever asked is told.
        else take(one, answer).catch(() => {});
      },
      (error: unknown) => {
        one.failure = asError(error);
        withdraw(one, responder);
      },
    );
  }

  /** Whether this answer counts. One that cannot be recorded does not, and is a no. */
  async function take(one: Waiting<Request, Answer>, answer: Answer): Promise<boolean> {
    if (one.isTaken) return false;
    one.isTaken = true;
    try {
      const counts = one.shared === undefined ? answer : await one.shared.claim(answer);
      one.settle({ kind: "answered", answer: counts });
      return counts === answer;
    } catch (error) {
      one.failure = asError(error);
      one.settle({ kind: "nobody" });
      throw error;
    }
  }

  function withdraw(one: Waiting<Request, Answer>, responder: Responder<Request, Answer>): void {
    one.asking.delete(responder);
    endIfNobody(one);
  }

  function endIfNobody(one: Waiting<Request, Answer>): void {
    if (one.asking.size === 0 && !one.isTaken) one.settle({ kind: "nobody" });
  }
}

interface Waiting<Request, Answer> {
  readonly question: Question<Request>;
  readonly settled: AbortSignal;
  /** Who may still answer. */
  readonly asking: Set<Responder<Request, Answer>>;
  /** Why the last one who could not answer could not. */
  failure: Error | undefined;
  readonly shared: SharedQuestion<Answer> | undefined;
  /** An answer is on its way. */
  isTaken: boolean;
  settle(outcome: Outcome<Answer>): void;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
