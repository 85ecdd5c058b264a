// The open questions of a runtime, put to every responder: the user at its terminal, and the clients of its socket
// (CLI-8). The first answer counts; the others learn that it is settled.

import { randomUUID } from "node:crypto";
import {
  NoOneToAsk,
  type AskElicitation,
  type ElicitationAnswer,
  type PermissionAnswer,
  type PermissionRequest,
} from "@soong/core";

export interface Question<Request> {
  readonly question_id: string;
  readonly request: Request;
  /** Milliseconds since the epoch, for users. */
  readonly asked_at: number;
}

/** Whether a call may happen. */
export type OpenQuestion = Question<PermissionRequest>;

/** What a tool wants to know while it is at work. */
export type OpenElicitation = Question<Parameters<AskElicitation>[0]>;

/** Someone who answers. `settled` is aborted as soon as an answer would come too late. */
export interface Responder {
  /** Undefined: no answer from here; the others may still give one. */
  ask(question: OpenQuestion, settled: AbortSignal): Promise<PermissionAnswer | undefined>;
  /** Default: what tools want to know is not asked here. */
  elicit?(question: OpenElicitation, settled: AbortSignal): Promise<ElicitationAnswer | undefined>;
}

export interface ApprovalBroker {
  /** For the kernel. With no one attending, or when the last one leaves, it rejects, and that is a no. */
  ask(
    request: PermissionRequest,
    context: { readonly signal: AbortSignal },
    shared?: SharedQuestion<PermissionAnswer>,
  ): Promise<PermissionAnswer>;
  elicit(
    request: Parameters<AskElicitation>[0],
    context: { readonly signal: AbortSignal },
    shared?: SharedQuestion<ElicitationAnswer>,
  ): Promise<ElicitationAnswer>;
  open(): readonly OpenQuestion[];
  /** How many would be asked whether a call may happen. */
  responders(): number;
  /** How many would be asked what a tool wants to know. */
  elicitationResponders(): number;
  openElicitations(): readonly OpenElicitation[];
  /** False: there is no such question, or another answer counts. */
  answer(question_id: string, answer: PermissionAnswer): Promise<boolean>;
  answerElicitation(question_id: string, answer: ElicitationAnswer): Promise<boolean>;
  /** From now on asked, also what is open already. The function ends it. */
  addResponder(responder: Responder): () => void;
}

/** `isBrief`: it is over before anyone could come in through the socket. */
export function createApprovalBroker({ isBrief = false } = {}): ApprovalBroker {
  const permissions = createQuestions<PermissionRequest, PermissionAnswer>((request) =>
    describeNoResponder(request, isBrief),
  );
  const elicitations = createQuestions<Parameters<AskElicitation>[0], ElicitationAnswer>(
    () => "no one is there to ask",
  );

  return {
    ask: permissions.ask,
    elicit: elicitations.ask,
    open: permissions.open,
    responders: permissions.responders,
    elicitationResponders: elicitations.responders,
    openElicitations: elicitations.open,
    answer: permissions.answer,
    answerElicitation: elicitations.answer,
    addResponder(responder) {
      const stopAsking = permissions.addResponder((...asked) => responder.ask(...asked));
      if (responder.elicit === undefined) return stopAsking;
      const stopEliciting = elicitations.addResponder(async (...asked) =>
        responder.elicit?.(...asked),
      );
      return () => {
        stopAsking();
        stopEliciting();
      };
    },
  };
}

/** Who gave the answer that settled a question; undefined: it is open, or no one gave one. */
export function answeredBy(settled: AbortSignal): string | undefined {
  if (!settled.aborted) return undefined;
  const outcome = settled.reason as Outcome<PermissionAnswer>;
  return outcome.kind === "answered" ? (outcome.answer.answered_by ?? "someone") : undefined;
}

/** The model reads this, and so does anyone who looks for what went wrong. */
function describeNoResponder(
  { tool_name, arguments: input, chain }: PermissionRequest,
  isBrief: boolean,
): string {
  const asking = chain.find(({ decisive }) => decisive === true);
  const explain = `soong explain ${tool_name} '${JSON.stringify(input).replaceAll("'", String.raw`'\''`)}'`;
  // What the defaults ask about, a rule can allow; what a rule, a hook or the runtime does, it may not.
  const hints = [
    ...(asking?.layer === "defaults" ? [`\`--allow ${tool_name}\` is a rule that allows it`] : []),
    // To be pasted as it is, or not given: half of an input explains nothing.
    ...(asking?.layer !== "defaults" && explain.length <= MAX_COMMAND_CHARS
      ? [`\`${explain}\` shows what asks`]
      : []),
    ...(isBrief ? [] : ["`soong inspect` or `soong attach` in another terminal can answer"]),
  ];
  return `no one is there to ask${hints.length === 0 ? "" : ` (${hints.join(", and ")})`}`;
}

const MAX_COMMAND_CHARS = 300;

/** What became of a question. `cancelled`: the call is gone, or did not wait any longer. */
export type Outcome<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "cancelled" | "nobody" };

/** A question that other processes may answer, too. */
export interface SharedQuestion<Answer> {
  readonly question_id: string;
  /** The answer that counts: the given one, or one that came first. */
  claim(answer: Answer): Promise<Answer>;
}

/** `settled` is aborted with an `Outcome` as its reason. */
type AskResponder<Request, Answer> = (
  question: Question<Request>,
  settled: AbortSignal,
) => Promise<Answer | undefined>;

interface Waiting<Request, Answer> {
  readonly question: Question<Request>;
  readonly settled: AbortSignal;
  /** Who may still answer. */
  readonly asking: Set<AskResponder<Request, Answer>>;
  /** Why the last one who could not answer could not. */
  failure?: Error;
  readonly shared: SharedQuestion<Answer> | undefined;
  /** An answer is on its way. */
  isTaken: boolean;
  settle(outcome: Outcome<Answer>): void;
}

/** Questions of one kind that wait for the first of several to answer. `describeAbsence`: the reason when no one is there. */
function createQuestions<Request, Answer>(describeAbsence: (request: Request) => string) {
  type Open = Waiting<Request, Answer>;
  type Ask = AskResponder<Request, Answer>;
  const responders = new Set<Ask>();
  const waiting = new Map<string, Open>();

  return {
    ask: (
      request: Request,
      { signal: cancelled }: { readonly signal: AbortSignal },
      shared?: SharedQuestion<Answer>,
    ): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const question_id = shared?.question_id ?? randomUUID();
        const settled = new AbortController();
        const cancel = (): void => one.settle({ kind: "cancelled" });
        const one: Open = {
          question: { question_id, request, asked_at: Date.now() },
          settled: settled.signal,
          asking: new Set(),
          shared,
          isTaken: false,
          settle(outcome) {
            if (!waiting.delete(question_id)) return;
            cancelled.removeEventListener("abort", cancel);
            settled.abort(outcome);
            if (outcome.kind === "answered") resolve(outcome.answer);
            else if (outcome.kind === "cancelled") reject(new Error("the call is gone"));
            else reject(one.failure ?? new NoOneToAsk(describeAbsence(request)));
          },
        };
        waiting.set(question_id, one);
        cancelled.addEventListener("abort", cancel);
        if (cancelled.aborted) cancel();
        else {
          for (const responder of responders) put(one, responder);
          endIfNobody(one);
        }
      }),
    open: (): readonly Question<Request>[] => [...waiting.values()].map(({ question }) => question),
    responders: (): number => responders.size,
    answer: async (question_id: string, answer: Answer): Promise<boolean> => {
      const one = waiting.get(question_id);
      return one !== undefined && take(one, answer);
    },
    addResponder: (responder: Ask): (() => void) => {
      responders.add(responder);
      for (const one of waiting.values()) put(one, responder);
      return () => {
        responders.delete(responder);
        for (const one of waiting.values()) withdraw(one, responder);
      };
    },
  };

  function put(one: Open, responder: Ask): void {
    one.asking.add(responder);
    // Through a promise of our own: a client that attends may throw before there is one.
    new Promise<Answer | undefined>((resolve) => {
      resolve(responder(one.question, one.settled));
    }).then(
      (answer) => {
        if (answer === undefined) withdraw(one, responder);
        // The asker receives what it says of a failure.
        else take(one, answer).catch(() => {});
      },
      (error: unknown) => {
        one.failure = asError(error);
        withdraw(one, responder);
      },
    );
  }

  /** Whether this answer counts. One that cannot be recorded does not, and is a no. */
  async function take(one: Open, answer: Answer): Promise<boolean> {
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

  function withdraw(one: Open, responder: Ask): void {
    one.asking.delete(responder);
    endIfNobody(one);
  }

  function endIfNobody(one: Open): void {
    if (one.asking.size === 0 && !one.isTaken) one.settle({ kind: "nobody" });
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
