// What has to be true of each invocation: requested, decided, perhaps started, and ended once with one result.

import type { Report } from "./problem.ts";
import { readText, type UncheckedRecord } from "../projection/read-fields.ts";

interface InvocationStory {
  readonly id: string;
  /** The last decision. */
  behavior: unknown;
  denied: boolean;
  started: boolean;
  startedAt: boolean;
  invalid: boolean;
  results: number;
  resultStatus: unknown;
  terminalEvents: number;
  /** Of its last record. */
  status: unknown;
}

const TERMINAL_EVENTS: ReadonlySet<unknown> = new Set([
  "tool.invocation.succeeded",
  "tool.invocation.failed",
  "tool.invocation.canceled",
  "tool.invocation.timed_out",
]);

const TERMINAL_STATUSES: ReadonlySet<unknown> = new Set([
  "succeeded",
  "failed",
  "canceled",
  "timed_out",
  "blocked",
  "denied",
]);

/** Results of calls that were not executed. */
const REFUSED: ReadonlySet<unknown> = new Set(["denied", "rejected"]);

export class InvocationRules {
  readonly #stories = new Map<string, InvocationStory>();
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  check(record: UncheckedRecord): void {
    const id = readText(record["invocation_id"]);
    if (id === undefined) return;
    const story = this.#find(id);
    const isEnded = story.terminalEvents > 0;
    switch (record["record_type"]) {
      case "tool_invocation":
        if (isEnded) this.#reportLate(id, "its record");
        story.status = record["status"];
        story.startedAt = readText(record["started_at"]) !== undefined;
        return undefined;
      case "tool_permission_decision":
        if (isEnded) this.#reportLate(id, "a decision");
        story.behavior = record["behavior"];
        if (story.behavior === "deny") story.denied = true;
        return undefined;
      case "tool_progress":
        if (isEnded || story.results > 0) this.#reportLate(id, "progress");
        return undefined;
      case "tool_result":
        if (isEnded) this.#reportLate(id, "a result");
        story.results += 1;
        story.resultStatus = record["status"];
        return undefined;
      case "tool_event":
        return this.#checkEvent(story, record["event_type"]);
      default:
        return undefined;
    }
  }

  end(): void {
    for (const story of this.#stories.values()) this.#checkEnd(story);
  }

  #checkEvent(story: InvocationStory, type: unknown): void {
    const { id } = story;
    if (TERMINAL_EVENTS.has(type)) {
      if (story.results === 0) this.#report("one_result", id, "ends before its result");
      story.terminalEvents += 1;
      return;
    }
    // A result is delivered after the call has ended.
    if (type !== "tool.invocation.yielded" && story.terminalEvents > 0) {
      this.#reportLate(id, String(type));
    }
    if (type === "tool.invocation.validation_failed") story.invalid = true;
    if (type === "tool.invocation.arguments_ready" && story.started) {
      this.#report("started_is_execution", id, "is started before its arguments are ready");
    }
    if (type === "tool.invocation.started") this.#checkStart(story);
  }

  #checkStart(story: InvocationStory): void {
    const { id, behavior } = story;
    if (story.started) this.#report("started_is_execution", id, "is started twice");
    if (story.denied) this.#report("no_start_after_deny", id, "is started after it was denied");
    else if (behavior !== "allow" && behavior !== "passthrough") {
      const last =
        behavior === undefined ? "no decision" : `the decision ${JSON.stringify(behavior)}`;
      this.#report("decision_before_start", id, `is started with ${last}`);
    }
    story.started = true;
  }

  #checkEnd(story: InvocationStory): void {
    const { id, results, terminalEvents, status, started, startedAt } = story;
    if (results !== 1) this.#report("one_result", id, `has ${results} results`);
    if (terminalEvents !== 1) {
      this.#report("one_result", id, `has ${terminalEvents} events that end it`);
    }
    if (!TERMINAL_STATUSES.has(status)) {
      this.#report("one_result", id, `has the last status ${String(status)}`);
    }
    // Agent Runtime calls "started" what a model has requested; here it means that execution began.
    if (started && (story.invalid || REFUSED.has(story.resultStatus))) {
      const why = story.invalid ? "its arguments were invalid" : "it was refused";
      this.#report("started_is_execution", id, `is started, and ${why}`);
    }
    if (started !== startedAt) {
      const message = started ? "has no started_at" : "has started_at and no event of its start";
      this.#report("started_is_execution", id, message);
    }
  }

  #reportLate(id: string, what: string): void {
    this.#report("nothing_after_end", id, `has ${what} after its end`);
  }

  #find(id: string): InvocationStory {
    let story = this.#stories.get(id);
    if (story === undefined) {
      story = {
        id,
        behavior: undefined,
        denied: false,
        started: false,
        startedAt: false,
        invalid: false,
        results: 0,
        resultStatus: undefined,
        terminalEvents: 0,
        status: undefined,
      };
      this.#stories.set(id, story);
    }
    return story;
  }
}
