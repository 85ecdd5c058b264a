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
export type Attending<Request, Answer> = (
  question: Question<Request>,
  /** Aborted with an `Outcome` as its reason. */
  settled: AbortSignal,
) => Promise<Answer | undefined>;

export type Outcome<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer }
  /** The call is gone, or did not wait any longer. */
  | { readonly kind: "cancelled" }
  | { readonly kind: "nobody" };

export interface FirstAnswer<Request, Answer> {
  /** Rejects when nobody attends, or nobody is left who could still answer. */
  ask(request: Request, cancelled: AbortSignal): Promise<Answer>;
  open(): readonly Question<Request>[];
  attendants(): number;
  /** False: there is no such question, or it is settled. */
  answer(question_id: string, answer: Answer): boolean;
  /** From now on asked, also what is open already. The function ends it. */
  attend(attending: Attending<Request, Answer>): () => void;
}

/** `nobody`: what to say when nobody is there. */
export function createFirstAnswer<Request, Answer>(
  nobody: (request: Request) => string,
): FirstAnswer<Request, Answer> {
  const attendants = new Set<Attending<Request, Answer>>();
  const waiting = new Map<string, Waiting<Request, Answer>>();

  return {
    ask: (request, cancelled) =>
      new Promise((resolve, reject) => {
        const question = { question_id: randomUUID(), request, asked_at: Date.now() };
        const settled = new AbortController();
        const cancel = (): void => one.settle({ kind: "cancelled" });
        const one: Waiting<Request, Answer> = {
          question,
          settled: settled.signal,
          asking: new Set(),
          failure: undefined,
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
          for (const attendant of attendants) put(one, attendant);
          endIfNobody(one);
        }
      }),
    open: () => [...waiting.values()].map(({ question }) => question),
    attendants: () => attendants.size,
    answer(question_id, answer) {
      const one = waiting.get(question_id);
      one?.settle({ kind: "answered", answer });
      return one !== undefined;
    },
    attend(attendant) {
      attendants.add(attendant);
      for (const one of waiting.values()) put(one, attendant);
      return () => {
        attendants.delete(attendant);
        for (const one of waiting.values()) withdraw(one, attendant);
      };
    },
  };

  function put(one: Waiting<Request, Answer>, attendant: Attending<Request, Answer>): void {
    one.asking.add(attendant);
    // Through a promise of our own: whoever attends may throw before there is one.
    new Promise<Answer | undefined>((resolve) => {
      resolve(attendant(one.question, one.settled));
    }).then(
      (answer) => {
        if (answer === undefined) withdraw(one, attendant);
        else one.settle({ kind: "answered", answer });
      },
      (error: unknown) => {
        one.failure = error instanceof Error ? error : new Error(String(error));
        withdraw(one, attendant);
      },
    );
  }

  function withdraw(one: Waiting<Request, Answer>, attendant: Attending<Request, Answer>): void {
    one.asking.delete(attendant);
    endIfNobody(one);
  }

  function endIfNobody(one: Waiting<Request, Answer>): void {
    if (one.asking.size === 0) one.settle({ kind: "nobody" });
  }
}

interface Waiting<Request, Answer> {
  readonly question: Question<Request>;
  readonly settled: AbortSignal;
  /** Who may still answer. */
  readonly asking: Set<Attending<Request, Answer>>;
  /** Why the last one who could not answer could not. */
  failure: Error | undefined;
  settle(outcome: Outcome<Answer>): void;
}
