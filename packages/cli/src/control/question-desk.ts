// Where the questions of a runtime lie until somebody answers: the person at its terminal, and those who came
// in through its socket (CLI-8). The first answer counts; the others are told that it is settled.

import { randomUUID } from "node:crypto";
import type { AskPermission, PermissionAnswer, PermissionRequest } from "@soong/core";

export interface OpenQuestion {
  readonly question_id: string;
  readonly request: PermissionRequest;
  /** Milliseconds since the epoch, for people. */
  readonly asked_at: number;
}

/** Somebody who answers. */
export interface Attendant {
  /** Undefined: no answer from here; the others may still give one. */
  ask(question: OpenQuestion, settled: AbortSignal): Promise<PermissionAnswer | undefined>;
}

export interface QuestionDesk {
  /** For the kernel. With nobody attending, or when the last one leaves, the answer is no. */
  readonly ask: AskPermission;
  open(): readonly OpenQuestion[];
  /** False: there is no such question, or it is settled. */
  answer(question_id: string, answer: PermissionAnswer): boolean;
  /** From now on asked, also what is open already. The function ends it. */
  attend(attendant: Attendant): () => void;
}

export function createQuestionDesk(): QuestionDesk {
  const attendants = new Set<Attendant>();
  const waiting = new Map<string, Waiting>();

  return {
    ask: (request, { signal }) =>
      new Promise((resolve) => {
        const question = { question_id: randomUUID(), request, asked_at: Date.now() };
        const settled = new AbortController();
        const settle = (answer: PermissionAnswer): void => {
          if (!waiting.delete(question.question_id)) return;
          signal.removeEventListener("abort", gone);
          settled.abort();
          resolve(answer);
        };
        const gone = (): void => settle({ decision: "deny", reason: "the call was cancelled" });
        const one: Waiting = { question, settled: settled.signal, asking: new Set(), settle };
        waiting.set(question.question_id, one);
        signal.addEventListener("abort", gone);
        if (signal.aborted) return gone();
        for (const attendant of attendants) put(one, attendant);
        denyIfNobody(one);
      }),
    open: () => [...waiting.values()].map(({ question }) => question),
    answer(question_id, answer) {
      const one = waiting.get(question_id);
      one?.settle(answer);
      return one !== undefined;
    },
    attend(attendant) {
      attendants.add(attendant);
      for (const one of waiting.values()) put(one, attendant);
      return () => {
        attendants.delete(attendant);
        for (const one of waiting.values()) {
          one.asking.delete(attendant);
          denyIfNobody(one);
        }
      };
    },
  };

  function put(one: Waiting, attendant: Attendant): void {
    one.asking.add(attendant);
    attendant
      .ask(one.question, one.settled)
      .then((answer) => (answer === undefined ? withdraw() : one.settle(answer)), withdraw);

    function withdraw(): void {
      one.asking.delete(attendant);
      denyIfNobody(one);
    }
  }

  function denyIfNobody(one: Waiting): void {
    if (one.asking.size === 0) one.settle({ decision: "deny", reason: "nobody is there to ask" });
  }
}

interface Waiting {
  readonly question: OpenQuestion;
  readonly settled: AbortSignal;
  readonly asking: Set<Attendant>;
  settle(answer: PermissionAnswer): void;
}
