// The rules over the events of each tool call: asked for first, decided before it runs, ended once.

import { UNAVAILABLE } from "./event.ts";
import type { AgentRuntimeProblem, AgentRuntimeRule } from "./problem.ts";
import { readRecord, readText, type UncheckedRecord } from "../projection/read-fields.ts";

export class CallRules {
  readonly #calls = new Map<string, CallState>();
  readonly #endedTurns = new Set<string>();
  readonly #problems: AgentRuntimeProblem[];

  constructor(problems: AgentRuntimeProblem[]) {
    this.#problems = problems;
  }

  check(event: UncheckedRecord): void {
    const type = readText(event["type"]) ?? "";
    const turnId = readText(event["turnId"]);
    if (turnId !== undefined && (type === "turn.completed" || type === "turn.failed")) {
      this.#endedTurns.add(turnId);
    }
    const id = readText(event["toolCallId"]);
    if (id === undefined || id === UNAVAILABLE || type === "tool.catalog.resolved") return;
    const isOfTool = type.startsWith("tool.");
    if (!isOfTool && !type.startsWith("permission.")) return;
    const call = this.#calls.get(id) ?? new CallState(turnId);
    this.#calls.set(id, call);
    const report = (rule: AgentRuntimeRule, message: string): void => {
      const eventId = readText(event["eventId"]);
      this.#problems.push({ rule, message: `${type} of ${id} ${message}`, eventId });
    };
    if (call.isEnded) report("one_terminal_event", "comes after the end of the call");
    if (type === "tool.started") {
      if (call.isStarted) report("tool_started_is_the_request", "comes twice");
      else if (call.events > 0) {
        report(
          "tool_started_is_the_request",
          "comes after other events of the call: it means that the call was asked for, not that it runs",
        );
      }
      call.isStarted = true;
    } else if (!call.isStarted && !call.isReported) {
      call.isReported = true;
      report("tool_started_is_the_request", "comes before its tool.started");
    }
    call.events += 1;
    if (!isOfTool) call.takeDecision(type, readRecord(event["permissionDecision"])["decision"]);
    else if (type === "tool.result" || type === "tool.failed") call.isEnded = true;
    else if (type === "tool.progress" && event["status"] === "running") checkRunning(call, report);
  }

  /** A call may outlive its turn, but not the log of an ended one. */
  end(): void {
    for (const [id, call] of this.#calls) {
      const { isEnded, turnId } = call;
      if (isEnded || turnId === undefined || !this.#endedTurns.has(turnId)) continue;
      const message = `the call ${id} has no tool.result and no tool.failed, and its turn has ended`;
      this.#problems.push({ rule: "one_terminal_event", message, eventId: undefined });
    }
  }
}

function checkRunning(
  call: CallState,
  report: (rule: AgentRuntimeRule, message: string) => void,
): void {
  if (call.isDenied) report("no_running_after_deny", "runs although it was denied");
  else if (!call.isAllowed) report("decision_before_running", "runs before it was allowed");
}

class CallState {
  events = 0;
  isStarted = false;
  isEnded = false;
  isAllowed = false;
  isDenied = false;
  isReported = false;
  /** What a user allowed stays allowed when the plan is judged again. */
  #isAnswered = false;
  readonly turnId: string | undefined;

  constructor(turnId: string | undefined) {
    this.turnId = turnId;
  }

  takeDecision(type: string, decision: unknown): void {
    if (type === "permission.requested") return;
    if (decision === "deny" || decision === "unavailable") this.isDenied = true;
    else if (decision === "allow" || decision === "sandboxed") {
      this.isAllowed = true;
      this.#isAnswered ||= type === "permission.resolved";
    } else if (!this.#isAnswered) this.isAllowed = false;
  }
}
