// The questions of a session, kept in its store while they are open (PERM-20): a runtime that follows a killed one asks the
// same question under the same id, and an answer that was given meanwhile is used, if the plan is still what was shown.

import { createHash, randomUUID } from "node:crypto";
import {
  type AskElicitation,
  type AskPermission,
  type ElicitationAnswer,
  type FindRequestId,
  type JsonObject,
  type PermissionAnswer,
  type PermissionRequest,
} from "@soong/core";
import { asJson } from "@soong/schema";
import type { ClusterStorage, NewQuestion, QuestionRecord, QuestionStorage } from "@soong/store";
import type { ApprovalBroker, Responder, SharedQuestion } from "./approval-broker.ts";
import { readElicitationAnswer, readRelayedAnswer } from "./relayed-answer.ts";

export interface StoredQuestions {
  readonly findRequestId: FindRequestId;
  ask(...asked: Parameters<AskPermission>): Promise<PermissionAnswer>;
  elicit(...asked: Parameters<AskElicitation>): Promise<ElicitationAnswer>;
  /** Of a question that is settled: who answered, and how. */
  answered(question_id: string): Promise<string | undefined>;
  /** The session ends in order: no one will ask again what is open. */
  close(): Promise<void>;
}

export interface StoreQuestionsOptions {
  readonly storage: QuestionStorage;
  readonly session_id: string;
  readonly broker: ApprovalBroker;
  /** Takes known secrets out. */
  redact(value: JsonObject): JsonObject;
  /** Where machines share the store: it says at once that there is an answer. */
  readonly cluster?: Pick<ClusterStorage, "listen"> | undefined;
  /** A question waits in the store also while no one is there, until someone answers it from any process. */
  readonly waitForAnyone?: boolean | undefined;
  /** How often other processes are listened to while a question is open. */
  readonly pollMs?: number;
}

const POLL_MS = 500;
/** Where an answer is also notified. */
const NOTIFIED_POLL_MS = 5_000;

export function storeQuestions(options: StoreQuestionsOptions): StoredQuestions {
  const { storage, session_id, broker, cluster } = options;
  const { pollMs = cluster === undefined ? POLL_MS : NOTIFIED_POLL_MS } = options;
  const stopWaiting = options.waitForAnyone === true ? broker.addResponder(ELSEWHERE) : undefined;
  /** Asked by this runtime: another call with the same plan is another question. */
  const openHere = new Set<string>();

  return {
    async findRequestId(request) {
      const kept = await findLeft(permissionAbout(request));
      return kept?.question_id;
    },
    ask: (request, { signal, recorded }) =>
      askOnce<PermissionAnswer>(permissionAbout(request), {
        read: readRelayedAnswer,
        refuse: (why) => ({ decision: "deny", reason: `The question was ${why}.` }),
        put: (shared) => broker.ask(request, { signal }, shared),
        // No one is there: it is not put, so there is nothing to keep.
        isKept: () => broker.responders() > 0,
        describe: () => {
          const { request_id: question_id, run_id, tool_call_id } = request;
          const { preview: _preview, ...withoutPreview } = request;
          const kept = keptRequest(recorded ?? withoutPreview, request);
          return { question_id, run_id, tool_call_id, request: kept };
        },
        answeredBy: ({ answered_by = "someone" }) => answered_by,
        settle: (question_id, answer) => broker.answer(question_id, answer),
      }),
    elicit(request, { signal }) {
      const { tool_name, tool_call_id, ...asked } = request;
      const digest = createHash("sha256").update(JSON.stringify(asked)).digest("hex");
      const about = { session_id, agent_id: "", kind: "elicitation", tool_name, digest } as const;
      return askOnce<ElicitationAnswer>(about, {
        read: readElicitationAnswer,
        refuse: () => ({ action: "decline" }),
        put: (shared) => broker.elicit(request, { signal }, shared),
        // An address is good for one time: no one could use it later.
        isKept: () => broker.elicitationResponders() > 0 && request.mode === "form",
        describe: (left) => ({
          question_id: left?.question_id ?? `ask_${randomUUID()}`,
          run_id: "",
          tool_call_id,
          request: { request: options.redact({ ...request }), shows_all: true },
        }),
        answeredBy: () => "someone",
        settle: (question_id, answer) => broker.answerElicitation(question_id, answer),
      });
    },
    async answered(question_id) {
      const { answer, answered_by } = (await storage.get(session_id, question_id)) ?? {};
      if (answer === undefined) return undefined;
      return `${answered_by ?? "someone"} (${describeAnswer(answer)})`;
    },
    async close() {
      stopWaiting?.();
      await storage.withdrawAll(session_id);
    },
  };

  function permissionAbout({ agent_id, tool_name, digest }: PermissionRequest) {
    return { session_id, agent_id, kind: "permission", tool_name, digest } as const;
  }

  async function findLeft(about: QuestionKey): Promise<QuestionRecord | undefined> {
    const kept = await storage.find(about);
    if (kept === undefined || openHere.has(kept.question_id)) return undefined;
    const { answer, state } = kept;
    const isUsable =
      answer === undefined ? state === "open" : typeof READERS[kept.kind](answer) === "object";
    if (isUsable) return kept;
    // What was stored is no answer: the question is asked again under an id of its own.
    await storage.settle(session_id, kept.question_id, "withdrawn");
    return undefined;
  }

  /**
   * An answer that was given meanwhile is used. Else it is open in the store for as long as it is at the broker; the
   * first answer counts, from here or from another process.
   */
  async function askOnce<Answer extends PermissionAnswer | ElicitationAnswer>(
    about: QuestionKey,
    how: AskedKind<Answer>,
  ): Promise<Answer> {
    const left = await findLeft(about);
    const given = left?.answer && how.read(left.answer);
    if (left !== undefined && typeof given === "object") {
      await storage.settle(session_id, left.question_id, "used");
      return given;
    }
    if (!how.isKept()) return how.put();
    const asked_at = new Date().toISOString();
    const question: NewQuestion = { ...about, ...how.describe(left), asked_at };
    const { question_id } = question;
    openHere.add(question_id);
    let polling: NodeJS.Timeout | undefined;
    let unlisten: (() => void) | undefined;
    try {
      await storage.ask(question);
      unlisten = cluster?.listen(`questions/${session_id}`, () => void listen());
      polling = setInterval(() => void listen(), pollMs).unref();
      return await how.put({ question_id, claim });
    } finally {
      clearInterval(polling);
      unlisten?.();
      await storage.settle(session_id, question_id, "withdrawn").catch(() => {});
      openHere.delete(question_id);
    }

    function readFirst(answer: JsonObject): Answer {
      const read = how.read(answer);
      return typeof read === "string" ? how.refuse(read) : read;
    }

    async function claim(answer: Answer): Promise<Answer> {
      const { taken, question: kept } = await storage.answer(session_id, question_id, {
        answer: asJson<PermissionAnswer | ElicitationAnswer>(answer),
        answered_by: how.answeredBy(answer),
        answered_at: new Date().toISOString(),
        used: true,
      });
      if (taken) return answer;
      if (kept?.answer === undefined) throw new Error("the question is not open any more");
      const first = readFirst(kept.answer);
      await storage.settle(session_id, question_id, "used");
      return first;
    }

    /**
     * An answer of another process goes the same way as any: `claim` finds that it was first. Without one the question is not open
     * any more, so no one could answer it: that is a no.
     */
    async function listen(): Promise<void> {
      let kept: QuestionRecord | undefined;
      try {
        kept = await storage.get(session_id, question_id);
      } catch {
        // The store cannot be read now: asked again a moment later.
        return;
      }
      if (kept?.state === "open") return;
      clearInterval(polling);
      const answer = kept?.answer === undefined ? how.refuse("withdrawn") : readFirst(kept.answer);
      // An answer that cannot be recorded counts as a no, which the broker reports to the asker.
      await how.settle(question_id, answer).catch(() => {});
    }
  }
}

const READERS = { permission: readRelayedAnswer, elicitation: readElicitationAnswer };

/** Represents responders in other processes. */
const ELSEWHERE: Responder = { ask: waitUntilSettled, elicit: waitUntilSettled };

function waitUntilSettled(_question: unknown, settled: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    settled.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

/** The decision or the action. */
export function describeAnswer({ decision, action }: JsonObject): string {
  const said = decision ?? action;
  return typeof said === "string" ? said : "an answer";
}

type QuestionKey = Parameters<QuestionStorage["find"]>[0];

/** How questions of one kind are put, kept and answered. */
interface AskedKind<Answer> {
  /** Text says why it is no answer. */
  read(answer: JsonObject): Answer | string;
  /** What that amounts to, of an answer that came first. */
  refuse(why: string): Answer;
  put(shared?: SharedQuestion<Answer>): Promise<Answer>;
  isKept(): boolean;
  describe(
    left: QuestionRecord | undefined,
  ): Pick<NewQuestion, "question_id" | "run_id" | "tool_call_id" | "request">;
  answeredBy(answer: Answer): string;
  settle(question_id: string, answer: Answer): Promise<boolean>;
}

/** The preview of a sensitive target is in front of a user, and nowhere else (PIPE-9). */
function keptRequest(recorded: object, shown: PermissionRequest): JsonObject {
  const { preview, ...request } = recorded as PermissionRequest;
  const isSensitive = shown.resources.some((one) => one.kind === "path" && one.sensitive === true);
  const kept = isSensitive || preview === undefined ? request : { ...request, preview };
  const shows_all =
    shown.preview === undefined || JSON.stringify(preview) === JSON.stringify(shown.preview);
  return { request: asJson(kept), shows_all: shows_all && !isSensitive };
}
