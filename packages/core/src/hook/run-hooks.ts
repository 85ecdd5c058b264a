// Runs the hooks of one event, one after the other, each within its own time. Every outcome is a fact. Nothing unknown is let
// through: an answer that is not understood is a failed hook.

import {
  describeNoAnswer,
  type Clock,
  type FactCall,
  type GivenUp,
  type Recorder,
  type Redactor,
  type Waited,
} from "../journal/index.ts";
import {
  compilePathPattern,
  pathPatternProblem,
  READING_SUBJECT,
  type PathPattern,
  type PatternPlaces,
  type RestrictedPath,
} from "../permission/index.ts";
import { isRecord } from "@soong/schema";
import { isContentBlock } from "../result/read-return.ts";
import { matchesName, type RestrictedAccess } from "../tool/index.ts";
import type { AnyHook, HookAnswers, HookEvent, HookPayloads } from "./hook.ts";

export interface HookSubject {
  tool_name: string;
  tags: readonly string[];
  /** Every name of every path it touches. */
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
  signal: () => AbortSignal;
  defaultTimeoutMs: number;
  /** Waits for a hook as long as it may take, or until no one needs its answer any more. */
  wait<T>(ms: number, work: () => T | PromiseLike<T>): Promise<Waited<T> | GivenUp>;
}

/** The hooks of a run. */
export class Hooks {
  readonly #byEvent = new Map<HookEvent, CompiledHook[]>();
  readonly #guards: readonly CompiledHook[];

  /** Throws a TypeError on a hook whose path cannot be compiled. */
  constructor(hooks: readonly AnyHook[], places: PatternPlaces = {}) {
    for (const hook of hooks) {
      const problem = hook.path === undefined ? undefined : pathPatternProblem(hook.path, places);
      if (problem !== undefined) throw new TypeError(`hook "${hook.id}": path ${problem}`);
      const path =
        hook.path === undefined ? undefined : compilePathPattern(hook.path, "restricts", places);
      this.#byEvent.set(hook.event, [...this.#of(hook.event), { hook, path }]);
    }
    // The other guards, of questions, see only calls that policy asks about.
    this.#guards = this.#of("PreToolUse").filter(({ path }) => path !== undefined);
  }

  /** Whether there is any of this event at all; most runs have none. */
  has(event: HookEvent): boolean {
    return this.#byEvent.has(event);
  }

  /** Those of this event that match, in the order given. */
  matching(event: HookEvent, subject?: HookSubject): readonly AnyHook[] {
    const matching = this.#of(event).filter(({ hook, path }) => {
      if (subject === undefined) return true;
      if (!isAbout(hook, subject)) return false;
      return path === undefined || subject.paths.some((one) => path.matches(one));
    });
    return matching.map(({ hook }) => hook);
  }

  /** The path of the subject that a hook with a path is about. */
  matchedPath(hook: AnyHook, { paths }: HookSubject): string | undefined {
    const { path } = this.#of(hook.event).find((one) => one.hook === hook) ?? {};
    return path === undefined ? undefined : paths.find((one) => path.matches(one));
  }

  /** The guard that a call of this tool on this path, or plain reading of it, would be shown to (PERM-15). */
  guardOf({ path, access, ignoresCase }: RestrictedPath, tool: HookedTool): AnyHook | undefined {
    return this.#guards.find(
      (guard) =>
        guard.path?.matches(path, ignoresCase) === true && guardsAccess(guard.hook, tool, access),
    )?.hook;
  }

  /** The paths of all such guards, as absolute globs. */
  guardedGlobs(tool: HookedTool, access: RestrictedAccess): readonly string[] {
    return this.#guards.flatMap(({ hook, path }) =>
      guardsAccess(hook, tool, access) ? (path?.globs ?? []) : [],
    );
  }

  #of(event: HookEvent): readonly CompiledHook[] {
    return this.#byEvent.get(event) ?? [];
  }
}

type HookedTool = Omit<HookSubject, "paths">;

interface CompiledHook {
  readonly hook: AnyHook;
  readonly path: PathPattern | undefined;
}

/** A guard of reading is one of all that shows what is in a file (PERM-15). */
function guardsAccess(hook: AnyHook, tool: HookedTool, access: RestrictedAccess): boolean {
  const reads = access === "read" || access === "search";
  return isAbout(hook, tool) || (reads && isAbout(hook, READING_SUBJECT.tool));
}

function isAbout(hook: AnyHook, tool: HookedTool): boolean {
  if (hook.tool !== undefined && !matchesName(hook.tool, tool.tool_name)) return false;
  return hook.tags?.every((tag) => tool.tags.includes(tag)) !== false;
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
    // Its own copy, without secrets: what a hook does to the payload is no one's business.
    // The payload is that of the event the hook is for: the compiler does not follow the pair.
    hook.run(ports.redactor.value(JSON.parse(JSON.stringify(payload))) as never, {
      signal: ports.signal(),
    }),
  );
  const outcome = readOutcome(hook, event, waited, ports.redactor);
  const about = { hook: hook.id, event, duration_ms: clock.monotonic() - started };
  if (outcome.ok) {
    recorder.record("hook.completed", { ...about, outcome: describe(outcome.answer) }, call);
  } else {
    recorder.record("hook.failed", { ...about, message: outcome.message }, call, "warn");
  }
  return outcome;
}

function readOutcome<Event extends HookEvent>(
  { id: hook, on_failure }: AnyHook,
  event: Event,
  waited: Waited<unknown> | GivenUp,
  redactor: Redactor,
): HookOutcome<Event> {
  const fail = (message: string): HookOutcome<Event> => ({
    hook,
    ok: false,
    message: redactor.text(message).slice(0, MAX_MESSAGE_CHARS),
    continues: on_failure === "continue",
  });
  if (waited.kind === "given_up") return fail("was not waited for: the call had been cancelled");
  if (waited.kind !== "answered") return fail(describeNoAnswer(waited));
  const answer = readAnswer(event, waited.value);
  if (typeof answer === "string") return fail(answer);
  const clean: Record<string, unknown> = { ...answer };
  for (const field of WORDS) {
    const words = clean[field];
    if (typeof words === "string") clean[field] = redactor.text(words);
  }
  return { hook, ok: true, answer: clean as HookAnswers[Event] };
}

const MAX_MESSAGE_CHARS = 2000;
/** The words of an answer that reach the model or the record; inputs and contents are taken as they are. */
const WORDS = ["reason", "context", "stop"];

/** Which parts were answered; the parts themselves are in the facts they lead to. */
function describe(answer: object): string {
  const { decision, action } = answer as { decision?: string; action?: string };
  return decision ?? action ?? (Object.keys(answer).toSorted().join(", ") || "pass");
}

type Kind = "text" | "boolean" | "object" | "blocks" | readonly string[];

const FIELDS: { [Event in HookEvent]: Record<string, Kind> } = {
  SessionStart: { context: "text" },
  UserPromptSubmit: { block: "boolean", reason: "text", context: "text" },
  PreToolUse: {
    decision: ["deny", "ask", "pass"],
    reason: "text",
    input: "object",
    context: "text",
    stop: "text",
  },
  PermissionRequest: { decision: ["deny", "pass"], reason: "text" },
  PostToolUse: { context: "text", replace: "blocks" },
  PostToolUseFailure: { context: "text", replace: "blocks" },
  Elicitation: { action: ["accept", "decline", "cancel", "pass"], content: "object" },
  ElicitationResult: {},
  Stop: { continue: "boolean", context: "text" },
  SessionEnd: {},
  SubagentStart: {},
  SubagentStop: {},
  PreCompact: {},
  Notification: {},
};

/** A copy of the answer, or what is wrong with it. */
export function readAnswer<Event extends HookEvent>(
  event: Event,
  given: unknown,
): HookAnswers[Event] | string {
  if (given === undefined || given === null) return {};
  if (Array.isArray(given)) return "answered with a list";
  if (typeof given !== "object") return `answered with a ${typeof given}`;
  const prototype: unknown = Object.getPrototypeOf(given);
  if (prototype !== Object.prototype && prototype !== null) {
    return "answered with something that is not a plain object";
  }
  const fields = FIELDS[event];
  // A copy: a getter must not answer one thing now and another later.
  const answer: Record<string, unknown> = {};
  try {
    for (const [field, value] of Object.entries(given)) {
      if (value === undefined) continue;
      const kind = fields[field];
      if (kind === undefined) {
        return `answered "${field}"; ${event} takes ${Object.keys(fields).join(", ") || "nothing"}`;
      }
      const problem = fieldProblem(kind, value);
      if (problem !== undefined) return `answered ${field} ${problem}`;
      answer[field] = typeof value === "object" ? JSON.parse(JSON.stringify(value)) : value;
    }
  } catch (error) {
    const kind = error instanceof RangeError ? "nested too deeply" : "not JSON";
    return `answered with something that is ${kind}`;
  }
  return answer as HookAnswers[Event];
}

function fieldProblem(kind: Kind, value: unknown): string | undefined {
  switch (kind) {
    case "text":
      return typeof value === "string" ? undefined : "without text";
    case "boolean":
      return typeof value === "boolean" ? undefined : "without true or false";
    case "object":
      return isRecord(value) ? undefined : "without an object";
    case "blocks":
      if (typeof value === "string") return undefined;
      return Array.isArray(value) && value.length > 0 && value.every(isContentBlock)
        ? undefined
        : "without text or a list of content blocks";
    default:
      return kind.includes(value as string)
        ? undefined
        : `with ${JSON.stringify(value)}; it takes ${kind.join(", ")}`;
  }
}
