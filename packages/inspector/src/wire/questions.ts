// What waits for the user in the live sessions, and what was granted in them.

import type { ElicitationRequest, JsonObject, PermissionRequest, ToolGrant } from "@soong/core";

export type Question = QuestionParts &
  (
    | { kind: "permission"; request: PermissionRequest }
    | {
        kind: "elicitation";
        request: ElicitationRequest & { tool_name: string; tool_call_id: string };
      }
  );

interface QuestionParts {
  question_id: string;
  session_id: string;
  /** Of the process that asks. */
  pid: number;
  project: string;
  asked_at: string;
}

export type AnswerGiven =
  | {
      decision: "allow_once" | "allow_for_session" | "deny";
      reason?: string;
      /** The rule that was shown is kept in the user's config. */
      always?: { where: "project" | "everywhere" };
    }
  | { action: "accept" | "decline" | "cancel"; content?: JsonObject };

export interface GrantRow extends ToolGrant {
  /** In words. */
  covers: string;
  pid: number;
  project: string;
}
