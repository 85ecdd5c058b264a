// What is done to a session that a process of another machine holds, through the store: an answer is a row, an abort and a
// revocation are commands to its holder. The inspector and `soong attach` do it here.

import { ControlError, readStoredRequest, type QuestionAnswer } from "@soong/control";
import { asJson } from "@soong/schema";
import type { Store } from "@soong/store";
import { revokeRemoteGrant } from "./remote-grants.ts";

/** `answered_by`: as on record for those who answer through a socket. */
export async function answerRemoteQuestion(
  store: Store,
  session_id: string,
  { question_id, ...given }: QuestionAnswer,
  answered_by: string,
): Promise<void> {
  const questions = store.questions();
  const question = await questions.get(session_id, question_id);
  if (question?.state !== "open") {
    throw new ControlError("not_found", "Too late: this question is not open any more.");
  }
  const isPermission = question.kind === "permission";
  if (isPermission !== "decision" in given) {
    throw new ControlError("bad_params", "This answer is for a question of another kind.");
  }
  // A yes needs the whole question in front of the user (PERM-19).
  const isNo = "decision" in given && given.decision === "deny";
  if (isPermission && !isNo && !readStoredRequest(question).shows_all) {
    throw new ControlError(
      "bad_params",
      "What this call would do is not kept, because it is sensitive or very long: it can only be denied here, and approved at the machine that asks.",
    );
  }
  const { name: _name, ...answer } = given;
  const { taken } = await questions.answer(session_id, question_id, {
    answer: { ...asJson(answer), ...(isPermission && { answered_by }) },
    answered_by,
    answered_at: new Date().toISOString(),
  });
  if (!taken) throw new ControlError("not_found", "Too late: someone else has answered.");
}

export async function revokeRemotely(
  store: Store,
  session_id: string,
  grant_id: string,
): Promise<void> {
  const outcome = await revokeRemoteGrant(store, { session_id, grant_id });
  if (outcome === "gone") throw refuseGone(session_id);
  if (outcome === "unconfirmed") {
    throw new ControlError(
      "failed",
      `It was sent to the process that holds ${session_id}, which has not confirmed it yet: it may be cut off.`,
    );
  }
}

/** Without a run, all that are under way. */
export async function abortRemotely(
  { cluster }: Pick<Store, "cluster">,
  session_id: string,
  about: { readonly run_id?: string | undefined; readonly reason: string },
): Promise<void> {
  const { run_id, reason } = about;
  const command = { kind: "abort", reason, ...(run_id !== undefined && { run_id }) } as const;
  if ((await cluster?.send(session_id, command)) !== true) throw refuseGone(session_id);
}

function refuseGone(session_id: string): ControlError {
  return new ControlError("unreachable", `The session ${session_id} is not live: it has ended.`);
}
