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
  readPermissionAnswer,
} from "@soong/core";
import { asJson, asRecord, isJsonObject } from "@soong/schema";
import type { NewQuestion, QuestionRecord, QuestionStorage } from "@soong/store";
import type { SharedQuestion } from "./first-answer.ts";
import type { ApprovalBroker } from "./approval-broker.ts";

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
  /** How often other processes are listened to while a question is open. */
  readonly pollMs?: number;
}

/** What is kept to be shown. */
type StoredRequest = (
  | { readonly kind: "permission"; readonly request: PermissionRequest }
  | { readonly kind: "elicitation"; readonly request: Parameters<AskElicitation>[0] }
) & {
  /** False: what it would do is sensitive or very long, and is not kept; nobody can approve it from here. */
  readonly shows_all: boolean;
};

export function readStoredRequest({ kind, request = {} }: QuestionRecord): StoredRequest {
  // Written in this file alone, from a request of that kind.
  return { kind, ...request } as unknown as StoredRequest;
}

const POLL_MS = 500;

export function storeQuestions(options: StoreQuestionsOptions): StoredQuestions {
  const { storage, session_id, broker, pollMs = POLL_MS } = options;
  /** Asked by this runtime: another call with the same plan is another question. */
  const openHere = new Set<string>();

  return {
    async findRequestId(request) {
      const kept = await findLeft(permissionAbout(request));
      return kept?.question_id;
    },
    async ask(request, { signal, recorded }) {
      const about = permissionAbout(request);
      const kept = await findLeft(about);
      const given = kept?.answer === undefined ? undefined : readPermissionAnswer(kept.answer);
      if (kept !== undefined && typeof given === "object") {
        await storage.settle(session_id, kept.question_id, "used");
        return given;
      }
      const put = (shared?: SharedQuestion<PermissionAnswer>): Promise<PermissionAnswer> =>
        broker.ask(request, { signal }, shared);
      // No one is there: it is not put, so there is nothing to keep.
      if (broker.responders() === 0) return put();
      const { preview: _preview, ...withoutPreview } = request;
      const question: NewQuestion = {
        ...about,
        question_id: request.request_id,
        run_id: request.run_id,
        tool_call_id: request.tool_call_id,
        asked_at: new Date().toISOString(),
        request: keptRequest(recorded ?? withoutPreview, request),
      };
      return whileOpen<PermissionAnswer>(question, put, {
        read: (answer) => {
          const read = readPermissionAnswer(answer);
          if (typeof read === "string") throw new Error(`the question was ${read}`);
          return read;
        },
        answeredBy: ({ answered_by = "someone" }) => answered_by,
        settle: (id, answer) => broker.answer(id, answer),
      });
    },
    async elicit(request, { signal }) {
      const { tool_name, tool_call_id, ...asked } = request;
      const digest = createHash("sha256").update(JSON.stringify(asked)).digest("hex");
      const about = { session_id, agent_id: "", kind: "elicitation", tool_name, digest } as const;
      const kept = await findLeft(about);
      const given = readElicitationAnswer(kept?.answer);
      if (kept !== undefined && given !== undefined) {
        await storage.settle(session_id, kept.question_id, "used");
        return given;
      }
      const put = (shared?: SharedQuestion<ElicitationAnswer>): Promise<ElicitationAnswer> =>
        broker.elicit(request, { signal }, shared);
      // An address is good for one time: no one could use it later.
      if (broker.elicitationResponders() === 0 || request.mode !== "form") return put();
      const question: NewQuestion = {
        ...about,
        question_id: kept?.question_id ?? `ask_${randomUUID()}`,
        run_id: "",
        tool_call_id,
        asked_at: new Date().toISOString(),
        request: { request: options.redact({ ...request }), shows_all: true },
      };
      return whileOpen<ElicitationAnswer>(question, put, {
        read: (answer) => readElicitationAnswer(answer) ?? { action: "decline" },
        answeredBy: () => "someone",
        settle: (id, answer) => broker.answerElicitation(id, answer),
      });
    },
    async answered(question_id) {
      const { answer, answered_by } = (await storage.get(session_id, question_id)) ?? {};
      if (answer === undefined) return undefined;
      return `${answered_by ?? "someone"} (${describeAnswer(answer)})`;
    },
    close: () => storage.withdrawAll(session_id),
  };

  function permissionAbout({ agent_id, tool_name, digest }: PermissionRequest) {
    return { session_id, agent_id, kind: "permission", tool_name, digest } as const;
  }

  async function findLeft(
    about: Parameters<QuestionStorage["find"]>[0],
  ): Promise<QuestionRecord | undefined> {
    const kept = await storage.find(about);
    return kept === undefined || openHere.has(kept.question_id) ? undefined : kept;
  }

  /** Open in the store for as long as it is at the broker; whoever answers first, here or in another process, has answered. */
  async function whileOpen<Answer extends PermissionAnswer | ElicitationAnswer>(
    question: NewQuestion,
    put: (shared: SharedQuestion<Answer>) => Promise<Answer>,
    how: AnswerKind<Answer>,
  ): Promise<Answer> {
    const { question_id } = question;
    openHere.add(question_id);
    let polling: NodeJS.Timeout | undefined;
    try {
      await storage.ask(question);
      polling = setInterval(() => void listen(), pollMs).unref();
      return await put({ question_id, claim });
    } finally {
      clearInterval(polling);
      await storage.settle(session_id, question_id, "withdrawn").catch(() => {});
      openHere.delete(question_id);
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
      const first = how.read(kept.answer);
      await storage.settle(session_id, question_id, "used");
      return first;
    }

    /** An answer of another process goes the same way as any: `claim` finds that it was first. */
    async function listen(): Promise<void> {
      try {
        const kept = await storage.get(session_id, question_id);
        if (kept?.state !== "answered" || kept.answer === undefined) return;
        clearInterval(polling);
        await how.settle(question_id, how.read(kept.answer));
      } catch {
        // The store cannot be read now: asked again a moment later, and whoever answers here is told.
      }
    }
  }
}

/** Undefined for what is no answer to a form. */
export function readElicitationAnswer(given: unknown): ElicitationAnswer | undefined {
  const { action, content } = asRecord(given);
  if (action !== "accept" && action !== "decline" && action !== "cancel") return undefined;
  return isJsonObject(content) ? { action, content } : { action };
}

/** The decision or the action. */
export function describeAnswer({ decision, action }: JsonObject): string {
  const said = decision ?? action;
  return typeof said === "string" ? said : "an answer";
}

interface AnswerKind<Answer> {
  read(answer: JsonObject): Answer;
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
