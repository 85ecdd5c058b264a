// Turns, actions and attempts begin before they end, and end once.

import type { AgentRuntimeProblem, AgentRuntimeRule } from "./problem.ts";
import { readText, type UncheckedRecord } from "../projection/read-fields.ts";

type Stage = "submitted" | "started" | "ended";

export class PairRules {
  readonly #turns = new Map<string, Stage>();
  readonly #actions = new Map<string, Stage>();
  readonly #attempts = new Map<string, Stage>();
  /** The turns of the actions that wait for an answer. */
  readonly #waiting = new Map<string, string | undefined>();
  readonly #problems: AgentRuntimeProblem[];

  constructor(problems: AgentRuntimeProblem[]) {
    this.#problems = problems;
  }

  check(event: UncheckedRecord): void {
    const { type, turnId, actionId, attemptId, runId } = event;
    switch (type) {
      case "turn.submitted":
        return this.#begin(event, "turn_pairs", this.#turns, turnId, "submitted");
      case "turn.started":
        return this.#begin(event, "turn_pairs", this.#turns, turnId, "started");
      case "turn.completed":
      case "turn.failed":
        return this.#end(event, "turn_pairs", this.#turns, turnId);
      case "action.required":
        this.#waiting.set(readText(actionId) ?? "", readText(turnId));
        return this.#begin(event, "action_pairs", this.#actions, actionId, "started");
      case "action.resolved":
        this.#waiting.delete(readText(actionId) ?? "");
        return this.#end(event, "action_pairs", this.#actions, actionId);
      case "task.attempt.started":
        return this.#begin(event, "attempt_pairs", this.#attempts, attemptId ?? runId, "started");
      case "task.attempt.completed":
      case "task.attempt.failed":
        return this.#end(event, "attempt_pairs", this.#attempts, attemptId ?? runId);
      default:
        return undefined;
    }
  }

  /** A turn that has ended waits for nothing. */
  end(): void {
    for (const [id, turnId] of this.#waiting) {
      if (turnId === undefined || this.#turns.get(turnId) !== "ended") continue;
      const message = `the action ${id} was not resolved, and its turn has ended`;
      this.#problems.push({ rule: "action_pairs", message, eventId: undefined });
    }
  }

  #begin(
    event: UncheckedRecord,
    rule: AgentRuntimeRule,
    stages: Map<string, Stage>,
    value: unknown,
    next: "submitted" | "started",
  ): void {
    const id = readText(value);
    if (id === undefined) return this.#report(rule, event, "has no id of what begins");
    const stage = stages.get(id);
    const isAgain = stage === next || (stage === "started" && next === "submitted");
    // An attempt that was given back may begin again at the same instant.
    const isOver = stage === "ended" && rule !== "attempt_pairs";
    if (isAgain || isOver) this.#report(rule, event, `comes after ${id} had ${stage}`);
    stages.set(id, next);
  }

  #end(
    event: UncheckedRecord,
    rule: AgentRuntimeRule,
    stages: Map<string, Stage>,
    value: unknown,
  ): void {
    const id = readText(value);
    const stage = id === undefined ? undefined : stages.get(id);
    if (id === undefined || stage === undefined) {
      return this.#report(rule, event, `ends ${id ?? "something"}, which had not begun`);
    }
    if (stage === "ended") this.#report(rule, event, `ends ${id} once more`);
    stages.set(id, "ended");
  }

  #report(rule: AgentRuntimeRule, { type, eventId }: UncheckedRecord, what: string): void {
    const message = `${readText(type) ?? "an event"} ${what}`;
    this.#problems.push({ rule, message, eventId: readText(eventId) });
  }
}
