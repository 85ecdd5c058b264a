// What "always" would write (PERM-18), for the page: the very lines, for this project and for every one, as the terminal shows
// them.

import type { PermissionRequest } from "@soong/core";
import type { AlwaysOffer, Question } from "@soong/inspector";
import { isPlainRecord } from "@soong/schema";
import { describeRule } from "../../config/index.ts";
import { findRules } from "../../conversation/ask-permission.ts";

type Asked = Pick<PermissionRequest, "scopes" | "always_rule" | "scope_choices" | "project">;

/** A question with its rules, where there are any. */
export function withAlwaysOffers(question: Question): Question {
  if (question.kind !== "permission") return question;
  const always = listAlwaysOffers(question.request, question.project);
  return always.length === 0 ? question : { ...question, always };
}

export function listAlwaysOffers(request: Asked, projectOfSession: string): AlwaysOffer[] {
  const { project = projectOfSession, scope_choices: choices = [] } = request;
  return findRules(request).flatMap(({ id, always_rule: rule }) => {
    // A runtime of another version may have sent anything.
    if (!isPlainRecord(rule)) return [];
    const isDefault = choices.length === 0 || choices[0]?.id === id;
    return [
      {
        ...(isDefault ? {} : { scope: id }),
        project: describeRule({ ...rule, project }),
        everywhere: describeRule(rule),
      },
    ];
  });
}
