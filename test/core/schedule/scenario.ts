// A turn written down before it happens: which calls arrive when, what each does, when the stream ends
// and whether the turn is halted. The scheduler and the reference model both play it, on a held clock.
//
// When several things are due at one moment they happen one by one: calls in call order, then the end
// of the stream, then the halt. What follows at once (a call of no duration) is due at the same moment.

import type { CallClass, ScheduleOptions } from "../../../packages/core/src/schedule/schedule.ts";

export interface Scenario extends ScheduleOptions {
  readonly calls: readonly ScriptedCall[];
  /** "never": the attempt is abandoned, by the abort. */
  readonly streamEnds: number | "never";
  readonly halt: Halt | undefined;
}

export interface ScriptedCall {
  readonly arrives: number;
  /** How long after its arrival it is known what the call is. */
  readonly judgedAfter: number;
  readonly verdict: CallClass | "refused" | "refused as write";
  /** False: it changes something inside, though it only reads outside. */
  readonly repeatable: boolean;
  readonly script: readonly ScriptStep[];
  readonly outcome: "ok" | "fails" | "fails and cancels siblings";
  readonly onInterrupt: "cancel" | "block";
  /** How long it still runs after it was cancelled. */
  readonly diesAfter: number;
}

export type ScriptStep =
  | { readonly type: "work"; readonly ticks: number }
  | { readonly type: "ask"; readonly ticks: number }
  | { readonly type: "become"; readonly class: CallClass };

/** An abort cuts the stream and cancels every call that has begun; an interrupt lets `block` calls finish. */
export interface Halt {
  readonly kind: "abort" | "interrupt";
  readonly at: number;
}

/** One line of what happened: a scenario, played, is a list of these. */
export type Happening = { readonly at: number; readonly call: number } & Event;

export type Event =
  | { readonly what: "arrive" | "start" | "resume" | "ask" | "answer" }
  /** It is known what the call is, at first or after its input changed: as that it is queued. */
  | { readonly what: "become"; readonly class: CallClass }
  /** The end of a call; but one that is cancelled while it runs, asks or waits fails after that. */
  | { readonly what: "skip" | "cancel"; readonly cause: number }
  | { readonly what: "end" | "fail" | "refuse" | "drop" };

/** By time, then by call: the order of the steps inside one moment is no one's promise. */
export function inOrder(happenings: readonly Happening[]): readonly Happening[] {
  return happenings.toSorted((a, b) => a.at - b.at || a.call - b.call);
}

export function renderHappening(happening: Happening): string {
  const line = `${happening.at}: #${happening.call} ${happening.what}`;
  if (happening.what === "become") return `${line} ${happening.class}`;
  return "cause" in happening ? `${line} because of #${happening.cause}` : line;
}

export function renderScenario(scenario: Scenario): string {
  const { maxParallel, early, streamEnds, halt } = scenario;
  return [
    `at most ${maxParallel} together, early: ${early}, stream ends: ${streamEnds}`,
    ...scenario.calls.map((call, index) => `  #${index} ${renderCall(call)}`),
    ...(halt === undefined ? [] : [`  ${halt.kind} at ${halt.at}`]),
  ].join("\n");
}

function renderCall(call: ScriptedCall): string {
  const known = `at ${call.arrives}${call.judgedAfter === 0 ? "" : `, known ${call.judgedAfter} later`}`;
  if (call.verdict === "refused" || call.verdict === "refused as write") {
    return `${call.verdict} (${known})`;
  }
  const steps = call.script.map((step) =>
    step.type === "become" ? `become ${step.class}` : `${step.type} ${step.ticks}`,
  );
  const ending = `${call.onInterrupt} on interrupt, dies after ${call.diesAfter}`;
  const inside = call.repeatable ? "" : ", changes something inside";
  return `${call.verdict} (${known}${inside}): ${[...steps, call.outcome].join(", ")} (${ending})`;
}
