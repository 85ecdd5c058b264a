// PreToolUse hooks for tests, in as few words as the test needs.

import {
  defineHook,
  type AnyHook,
  type Hook,
  type HookAnswers,
  type JsonObject,
} from "@soong/core";

/** A PreToolUse hook that answers this, or what this makes of the input. */
export function pre(
  id: string,
  answer: HookAnswers["PreToolUse"] | ((input: JsonObject) => HookAnswers["PreToolUse"] | void),
  about: Partial<Hook<"PreToolUse">> = {},
): AnyHook {
  const run: Hook<"PreToolUse">["run"] = ({ input }) =>
    typeof answer === "function" ? answer(input as JsonObject) : answer;
  return defineHook({ id, event: "PreToolUse", run, ...about });
}
