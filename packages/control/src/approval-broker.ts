// The open questions of a runtime, put to every responder: the user at its terminal, and the clients of its socket
// (CLI-8). The first answer counts; the others learn that it is settled.

import type {
  AskElicitation,
  ElicitationAnswer,
  PermissionAnswer,
  PermissionRequest,
} from "@soong/core";
import {
  createFirstAnswer,
  type Outcome,
  type Question,
  type SharedQuestion,
} from "./first-answer.ts";

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
  const permissions = createFirstAnswer<PermissionRequest, PermissionAnswer>((request) =>
    describeNoResponder(request, isBrief),
  );
  const elicitations = createFirstAnswer<Parameters<AskElicitation>[0], ElicitationAnswer>(
    () => "no one is there to ask",
  );

  return {
    ask: (request, { signal }, shared) => permissions.ask(request, signal, shared),
    elicit: (request, { signal }, shared) => elicitations.ask(request, signal, shared),
    open: () => permissions.open(),
    responders: () => permissions.responders(),
    elicitationResponders: () => elicitations.responders(),
    openElicitations: () => elicitations.open(),
    answer: (question_id, answer) => permissions.answer(question_id, answer),
    answerElicitation: (question_id, answer) => elicitations.answer(question_id, answer),
    addResponder(responder) {
      const stopAsking = permissions.addResponder((question, settled) =>
        responder.ask(question, settled),
      );
      if (responder.elicit === undefined) return stopAsking;
      const stopEliciting = elicitations.addResponder(async (question, settled) =>
        responder.elicit?.(question, settled),
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

/** The model reads this, and so does whoever looks for what went wrong. */
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
