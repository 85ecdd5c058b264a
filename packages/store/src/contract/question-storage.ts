// Questions to the user that outlive the runtime that asked them (PERM-20). One row a question, answered once, by the
// first, from any process that has the store open.

import type { JsonObject } from "@soong/core";

export interface QuestionStorage {
  /** Keeps a question as open. One that is there already stays as it is. Answers with what is kept. */
  ask(question: NewQuestion): Promise<QuestionRecord>;
  /** The question about the same plan that is open, or answered and not used yet. */
  find(about: QuestionAbout): Promise<QuestionRecord | undefined>;
  /** Undefined when there is no such question. */
  get(session_id: string, question_id: string): Promise<QuestionRecord | undefined>;
  /** The first answer counts. Answers with what is kept then: whose answer that is tells `answered_by`. */
  answer(session_id: string, question_id: string, answer: QuestionAnswer): Promise<TakenAnswer>;
  /** `used`: the answer was acted on. `withdrawn`: no one waits for one. What was to be shown is dropped. */
  settle(session_id: string, question_id: string, state: "used" | "withdrawn"): Promise<void>;
  /** All that is open of a session whose runtime ends in order: no one will ask it again. */
  withdrawAll(session_id: string): Promise<void>;
  /** Open ones and those whose answer was not used yet, oldest first. */
  list(session_id?: string): Promise<QuestionRecord[]>;
}

/** What makes two questions the same. */
export interface QuestionAbout {
  readonly session_id: string;
  readonly agent_id: string;
  readonly kind: "permission" | "elicitation";
  readonly tool_name: string;
  /** Of the plan or, for what a tool wants to know, of the question itself. */
  readonly digest: string;
}

export interface NewQuestion extends QuestionAbout {
  readonly question_id: string;
  readonly run_id: string;
  readonly tool_call_id: string;
  readonly asked_at: string;
  /** As it is shown, without secrets. The preview of a sensitive target is no part of it (PIPE-9). */
  readonly request: JsonObject;
}

export interface QuestionRecord extends QuestionAbout {
  question_id: string;
  run_id: string;
  tool_call_id: string;
  asked_at: string;
  state: "open" | "answered" | "used" | "withdrawn";
  /** Omitted once it is settled. */
  request?: JsonObject;
  /** Once it is answered: a decision, or an action. */
  answer?: JsonObject;
  answered_by?: string;
  answered_at?: string;
}

export interface QuestionAnswer {
  readonly answer: JsonObject;
  readonly answered_by: string;
  readonly answered_at: string;
  /** The caller has it already: nothing is kept for a later runtime. */
  readonly used?: boolean;
}

export interface TakenAnswer {
  /** False: there is no such question, or it was answered or withdrawn before. */
  readonly taken: boolean;
  readonly question: QuestionRecord | undefined;
}
