// Runs the hooks of one event, one after the other, each within its own time. Every outcome is a fact.

import type { Clock, FactCall, GivenUp, Recorder, Redactor, Waited } from "../journal/index.ts";
import { compileGlob, globProblem } from "../permission/index.ts";
import type { JsonObject } from "../schema/index.ts";
import { matchesName, messageOf, type Signal } from "../tool/index.ts";
import { readAnswer } from "./answer.ts";
import type { AnyHook, HookAnswers, HookEvent, HookPayloads } from "./hook.ts";

export interface HookSubject {
  tool_name: string;
  tags: readonly string[];
  paths: readonly string[];
}

/** One hook's answer, or how it failed to give one. */
export type HookOutcome<Event extends HookEvent> =
  | { hook: string; ok: true; answer: HookAnswers[Event] }
  | { hook: string; ok: false; message: string; continues: boolean };

export interface HookPorts {
  clock: Clock;
  recorder: Recorder;
  redactor: Redactor;
  signal: () => Signal;
  defaultTimeoutMs: number;
  /** Waits for a hook as long as it may take, or until nobody needs its answer any more. */
  wait<T>(
    ms: number,
    work: () => T | PromiseLike<T>,
  ): Waited<T> | GivenUp | Promise<Waited<T> | GivenUp>;
}

export interface Hooks {
  /** Whether there is any of this event at all; most runs have none. */
  has(event: HookEvent): boolean;
  /** Those of this event that match, in the order given. */
  matching(event: HookEvent, subject?: HookSubject): readonly AnyHook[];
}

export function createHooks(hooks: readonly AnyHook[]): Hooks {
  const byEvent = new Map<
    HookEvent,
    { hook: AnyHook; matchesPath?: (path: string) => boolean }[]
  >();
  for (const hook of hooks) {
    const problem = hook.path === undefined ? undefined : globProblem(hook.path);
    if (problem !== undefined) throw new TypeError(`hook "${hook.id}": path ${problem}`);
    const entry =
      hook.path === undefined ? { hook } : { hook, matchesPath: compileGlob(hook.path) };
    byEvent.set(hook.event, [...(byEvent.get(hook.event) ?? []), entry]);
  }
  return {
    has: (event) => byEvent.has(event),
    matching(event, subject) {
      const candidates = byEvent.get(event);
      if (candidates === undefined) return [];
      return candidates
        .filter(({ hook, matchesPath }) => {
          if (subject === undefined) return true;
          if (hook.tool !== undefined && !matchesName(hook.tool, subject.tool_name)) return false;
          if (hook.tags?.every((tag) => subject.tags.includes(tag)) === false) return false;
          return matchesPath === undefined || subject.paths.some((path) => matchesPath(path));
        })
        .map(({ hook }) => hook);
    },
  };
}

export async function runHook<Event extends HookEvent>(
  hook: AnyHook,
  event: Event,
  payload: HookPayloads[Event],
  ports: HookPorts,
  call?: FactCall,
): Promise<HookOutcome<Event>> {
  const { clock, recorder } = ports;
  const started = clock.monotonic();
  recorder.record("hook.started", { hook: hook.id, event }, call);
  const limit = hook.timeout_ms ?? ports.defaultTimeoutMs;
  const waited = await ports.wait(limit, () =>
    // Its own copy, without secrets: what a hook does to the payload is nobody's business.
    hook.run(ports.redactor.value(copyOf(payload)) as never, { signal: ports.signal() }),
  );
  const outcome = read(hook, event, waited, ports.redactor);
  const about = { hook: hook.id, event, duration_ms: clock.monotonic() - started };
  if (outcome.ok) {
    recorder.record("hook.completed", { ...about, outcome: describe(outcome.answer) }, call);
  } else {
    recorder.record("hook.failed", { ...about, message: outcome.message }, call, "warn");
  }
  return outcome;
}

function read<Event extends HookEvent>(
  hook: AnyHook,
  event: Event,
  waited: Waited<unknown> | GivenUp,
  redactor: Redactor,
): HookOutcome<Event> {
  const fail = (message: string): HookOutcome<Event> => ({
    hook: hook.id,
    ok: false,
    message: redactor.text(message).slice(0, MAX_MESSAGE_CHARS),
    continues: hook.on_failure === "continue",
  });
  if (waited.kind === "given_up") return fail("was not waited for: the call had been cancelled");
  if (waited.kind === "timed_out") return fail(`did not answer within ${waited.ms} ms`);
  if (waited.kind === "threw") return fail(`threw: ${messageOf(waited.error)}`);
  const answer = readAnswer(event, waited.value);
  if (!answer.ok) return fail(answer.message);
  return { hook: hook.id, ok: true, answer: withoutSecrets(answer.answer, redactor) };
}

const MAX_MESSAGE_CHARS = 2000;
/** The words of an answer that reach the model or the record; inputs and contents are taken as they are. */
const WORDS = ["reason", "context", "stop"] as const;

function withoutSecrets<Answer extends object>(answer: Answer, redactor: Redactor): Answer {
  const clean = { ...answer } as Record<string, unknown>;
  for (const field of WORDS) {
    const words = clean[field];
    if (typeof words === "string") clean[field] = redactor.text(words);
  }
  return clean as Answer;
}

function copyOf(payload: object): JsonObject {
  return JSON.parse(JSON.stringify(payload)) as JsonObject;
}

/** Which parts were answered; the parts themselves are in the facts they lead to. */
function describe(answer: object): string {
  const { decision, action } = answer as { decision?: string; action?: string };
  return decision ?? action ?? (Object.keys(answer).toSorted().join(", ") || "pass");
}
