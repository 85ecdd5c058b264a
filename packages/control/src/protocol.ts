// What is said over the socket of a live runtime (CLI-8): one JSON record a line, requests with an id that their
// answer has too, and events that come on their own. docs/control.md is written from this.

import {
  type AskElicitation,
  type ElicitationAnswer,
  type Fact,
  type PermissionAnswer,
  type PermissionRequest,
  SoongError,
  type ToolGrant,
} from "@soong/core";

/** The version changes when someone who knows the old one would misread. */
export const CONTROL_PROTOCOL = "soong.control/1";

/** Of this program; a test holds it to the package's. */
export const PROGRAM_VERSION = "0.1.0";

/** Longer lines than this are not read from a client. */
export const MAX_REQUEST_BYTES = 1024 * 1024;

/** The first thing a runtime says to anyone who connects. */
export interface ControlHello {
  readonly protocol: string;
  readonly version: string;
  readonly pid: number;
  readonly session_id: string;
  readonly project: string;
  readonly runs: readonly RunUnderWay[];
  /** How many are there to answer, at its terminal or through its socket. */
  readonly attendants: number;
}

export interface RunUnderWay {
  readonly run_id: string;
  readonly agent_id: string;
  readonly parent_run_id?: string;
  readonly role: string;
  readonly started_at: string;
}

export interface ListedGrant extends ToolGrant {
  /** What it covers, in words. */
  readonly covers: string;
}

export type ListedQuestion =
  | (ListedParts & { readonly kind: "permission"; readonly request: PermissionRequest })
  | (ListedParts & {
      readonly kind: "elicitation";
      readonly request: Parameters<AskElicitation>[0];
    });

interface ListedParts {
  readonly question_id: string;
  readonly asked_at: string;
}

export interface SettledQuestion {
  readonly question_id: string;
  /** `cancelled`: its call is gone. `nobody`: no one who could answer is left. */
  readonly outcome: "answered" | "cancelled" | "nobody";
  readonly answered_by?: string;
  readonly decision?: PermissionAnswer["decision"];
  readonly action?: ElicitationAnswer["action"];
}

/** A piece of an answer that is being written, without secrets. */
export interface LiveText {
  readonly run_id: string;
  /** The node that will hold the answer; another one than before is another answer. */
  readonly node_id: string;
  /** Of what was sent before, so many characters stay; `text` follows them. */
  readonly offset: number;
  readonly text: string;
}

export interface ControlMethods {
  hello: { params: NoParams; result: ControlHello };
  /**
   * Who the client is, before it acts. Without params: which file to open (none where the system could not say who holds
   * it). With them: that this process holds it open under this descriptor.
   */
  identify: { params: { pid?: number; descriptor?: number }; result: { open?: string } };
  "grants.list": { params: NoParams; result: { grants: readonly ListedGrant[] } };
  "grants.revoke": { params: { grant_id: string }; result: { grant: ListedGrant } };
  "questions.list": { params: NoParams; result: { questions: readonly ListedQuestion[] } };
  /** `name`: who answers here, for the record. `kinds`: which questions; default: all. */
  "questions.attend": {
    params: { name?: string; kinds?: readonly ListedQuestion["kind"][] };
    result: NoParams;
  };
  "questions.leave": { params: NoParams; result: NoParams };
  "questions.answer": { params: QuestionAnswer; result: NoParams };
  "facts.follow": { params: { after?: number; run_id?: string }; result: { after: number } };
  /** From now on the text of the model comes as `text` events, a few times a second; that of open answers whole. */
  "text.follow": { params: NoParams; result: NoParams };
  /** Default of `run_id`: every run under way. */
  "run.abort": {
    params: { run_id?: string; reason?: string };
    result: { run_ids: readonly string[] };
  };
}

export type ControlMethod = keyof ControlMethods;

type NoParams = Readonly<Record<string, never>>;

export type QuestionAnswer =
  | ({ question_id: string; name?: string } & Pick<
      PermissionAnswer,
      "decision" | "reason" | "scope" | "always"
    >)
  | ({ question_id: string; name?: string } & ElicitationAnswer);

export type ControlEvent =
  | { readonly event: "hello"; readonly data: ControlHello }
  | { readonly event: "question.opened"; readonly data: ListedQuestion }
  | { readonly event: "question.settled"; readonly data: SettledQuestion }
  | { readonly event: "text"; readonly data: LiveText }
  | { readonly event: "fact"; readonly data: Fact }
  /** The last fact that was sent; when that is not all, the store has the rest. */
  | {
      readonly event: "facts.end";
      readonly data: { readonly last_seq: number; readonly complete: boolean };
    };

export type ControlAnswer =
  | { readonly id: RequestId; readonly result: object }
  | { readonly id: RequestId | null; readonly error: ControlProblem };

export type RequestId = string | number;

export interface ControlProblem {
  readonly code:
    | "bad_request"
    | "unknown_method"
    | "bad_params"
    | "not_found"
    /** It has to say who it is first: see `identify`. */
    | "not_identified"
    /** The runtime itself has started it. */
    | "refused"
    | "line_too_long"
    | "too_many_clients"
    | "failed";
  readonly message: string;
}

/** A request could not be met; or, on the side of a client, the runtime said so. */
export class ControlError extends SoongError<ControlProblem["code"] | "unreachable"> {
  override readonly name = "ControlError";
}
