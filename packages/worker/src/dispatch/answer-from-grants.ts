// The process that holds the dispatching session answers the questions of a worker that a grant of that session covers. The
// grants stay in that process: after one is revoked, users get the next question again.

import type { PermissionRequest, ToolGrant } from "@soong/core";
import { createGrants, findGrantForQuestion } from "@soong/core/internal";
import type { QuestionRecord, Store } from "@soong/store";
import { moveGrant } from "./move-paths.ts";

export interface GrantsOfDispatch {
  /** The current grants. */
  grants(): readonly ToolGrant[];
  readonly project: string | undefined;
}

/** Returns the open questions that no grant covers. */
export async function answerFromGrants(
  store: Store,
  session_id: string,
  given: GrantsOfDispatch,
): Promise<QuestionRecord[]> {
  const questions = store.questions();
  const open: QuestionRecord[] = [];
  for (const question of await questions.list(session_id)) {
    const grant = findCoveringGrant(question, given);
    if (grant === undefined) {
      if (question.state === "open") open.push(question);
      continue;
    }
    const answered_by = `grant:${grant.grant_id}`;
    await questions.answer(session_id, question.question_id, {
      answer: { decision: "allow_once", answered_by },
      answered_by,
      answered_at: new Date().toISOString(),
    });
  }
  return open;
}

export function findCoveringGrant(
  { kind, state, request }: Pick<QuestionRecord, "kind" | "state" | "request">,
  given: GrantsOfDispatch,
): ToolGrant | undefined {
  const { project: there } = given;
  if (kind !== "permission" || state !== "open") return undefined;
  const asked = request?.["request"] as PermissionRequest | undefined;
  if (!Array.isArray(asked?.scopes)) return undefined;
  const { project: here } = asked;
  // Without a project of the worker, it is unknown what a path of the grant means there.
  if (there !== undefined && here === undefined) return undefined;
  const book = createGrants();
  for (const grant of given.grants()) {
    const isMoved = there !== undefined && here !== undefined;
    book.add(isMoved ? moveGrant(grant, { there, here }) : grant);
  }
  try {
    return findGrantForQuestion(book, asked);
  } catch {
    // A newer Soong may use scopes that this version does not know.
    return undefined;
  }
}
