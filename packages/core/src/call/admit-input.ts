// Validation of one input (SCHEMA-4, SCHEMA-6, DEF-4): schema, the author's own schema, normalise, values,
// and then what the call would do with it. A changed input comes back through here (PIPE-2).

import { isThenable, type GivenUp, type Waited } from "../journal/index.ts";
import {
  formatIssues,
  type JsonObject,
  type StandardResult,
  type ValidationIssue,
} from "../schema/index.ts";
import type { ToolSchema } from "../registry/index.ts";
import { readThrown, recordable, snapshotOf } from "../result/index.ts";
import {
  callEffects,
  isPromise,
  messageOf,
  toolError,
  type AnyTool,
  type Effects,
} from "../tool/index.ts";
import {
  cancelledEnding,
  changedFields,
  ending,
  sameJson,
  toolOf,
  withinCall,
  type Call,
  type Ending,
} from "./call.ts";
import type { CallHost } from "./host.ts";
import { readOwnAnswer } from "./own-schema.ts";
import { placesOf } from "./context.ts";
import { isPlainObject } from "./run-context.ts";
import type { CallClass } from "../schedule/index.ts";
import { effectsUnder } from "../surface/index.ts";

/** Sets the call's input, effects and class; or says why the input cannot be taken. */
export function admitInput(
  host: CallHost,
  call: Call,
  input: JsonObject,
): Ending | undefined | Promise<Ending | undefined> {
  const { input: schema } = toolOf(call);
  call.observable = undefined;
  const checked = schema.check(input);
  if (!checked.ok) return invalid(call, quotable(host, schema, input, checked.issues));
  if (schema.own === undefined) return settle(host, call, input);
  const { own } = schema;
  const waited = withinCall(host.clock, call, host.config.tools.default_timeout_ms, () =>
    own(input),
  );
  const take = (answer: Waited<StandardResult<unknown>> | GivenUp) =>
    settleOwn(host, call, input, answer);
  return isThenable(waited) ? waited.then(take) : take(waited);
}

function settleOwn(
  host: CallHost,
  call: Call,
  input: JsonObject,
  waited: Waited<StandardResult<unknown>> | GivenUp,
): Ending | undefined | Promise<Ending | undefined> {
  if (waited.kind === "given_up") return cancelledEnding(call);
  if (waited.kind === "timed_out") {
    return broken(call, `its schema did not answer within ${waited.ms} ms`);
  }
  if (waited.kind === "threw") return broken(call, `its schema threw: ${messageOf(waited.error)}`);
  const answer = readOwnAnswer(waited.value);
  if (typeof answer === "string") return broken(call, `its schema ${answer}`);
  if (answer.issues !== undefined) return invalid(call, answer.issues);
  const output = answer.value as JsonObject;
  if (typeof output !== "object" || output === null || Array.isArray(output)) {
    return broken(call, "its schema made something else of an object");
  }
  if (sameJson(input, output)) return settle(host, call, input);
  // What a transform made is not what may be given: then hooks see, and may return, what was given.
  const isGivable = toolOf(call).input.check(recordable(output)).ok;
  if (!isGivable) call.observable = input;
  recordMutation(
    host,
    call,
    "schema",
    "defaults and transforms of the author's schema",
    input,
    output,
  );
  return settle(host, call, output);
}

/** Normalised, checked for values, classified. */
function settle(
  host: CallHost,
  call: Call,
  given: JsonObject,
): Ending | undefined | Promise<Ending | undefined> {
  const { definition } = toolOf(call);
  let input = given;
  if (definition.normalise !== undefined) {
    const before = recordable(given);
    const normalised = normalise(definition, given);
    if (typeof normalised === "string") return broken(call, normalised);
    input = normalised;
    if (!sameJson(before, recordable(input))) {
      recordMutation(
        host,
        call,
        "normalise",
        "normalised by the tool",
        before as JsonObject,
        input,
      );
    }
  }
  call.input = input;
  if (definition.validate === undefined) return classify(host, call);
  const waited = withinCall(host.clock, call, host.config.tools.default_timeout_ms, () =>
    definition.validate?.(input),
  );
  const take = (answer: Waited<unknown> | GivenUp) =>
    valueProblem(call, answer) ?? classify(host, call);
  return isThenable(waited) ? waited.then(take) : take(waited);
}

/** The normalised input, or what is wrong with it. */
function normalise(definition: AnyTool, given: JsonObject): JsonObject | string {
  try {
    // On a copy: most change what they are given, and the change is to be seen.
    const input: unknown = definition.normalise?.(copyOf(given));
    if (isPromise(input)) return "its normalise answered with a promise; it has to answer at once";
    if (!isPlainObject(input)) return "its normalise did not return a plain object";
    // What was JSON stays JSON; what the author's schema made of it may be anything.
    if (isJson(given)) snapshotOf(input);
    return input as JsonObject;
  } catch (error) {
    return `its normalise failed: ${messageOf(error)}`;
  }
}

function isJson(value: unknown): boolean {
  try {
    return snapshotOf(value) !== undefined;
  } catch {
    return false;
  }
}

/** Lists and plain objects anew; whatever else a schema made (a Date, a Map) as it is. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyOf(item)]));
}

function valueProblem(call: Call, waited: Waited<unknown> | GivenUp): Ending | undefined {
  if (waited.kind === "given_up") return cancelledEnding(call);
  if (waited.kind === "timed_out") {
    return broken(call, `its validate did not answer within ${waited.ms} ms`);
  }
  if (waited.kind === "threw") {
    const outcome = readThrown(waited.error);
    const isExact = outcome.error?.code !== "execution_failed";
    return isExact
      ? { status: "failed", outcome, executed: false }
      : invalidValues(call, outcome.error?.message ?? "");
  }
  const { value } = waited;
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return invalidValues(call, value);
  return broken(call, `its validate answered with a ${typeof value} instead of text or nothing`);
}

function classify(host: CallHost, call: Call): undefined {
  const tool = toolOf(call);
  const { effects, problem } = callEffects(
    tool.definition,
    tool.effects,
    call.input,
    tool.source.trusted,
    placesOf(host, tool),
  );
  if (problem !== undefined) {
    const message = `${tool.name}: ${problem}; the call is treated as a write`;
    host.recorder.record("error", { code: "bad_classification", message }, call, "warn");
  }
  // A server gives no account of its calls; what it is comes from the user.
  call.effects = tool.source.kind === "mcp" ? effectsUnder(host.policy, tool) : effects;
  call.class = classOf(
    call.effects,
    tool.definition.starts_agent === true && tool.source.kind === "agent",
  );
  return undefined;
}

export function classOf(effects: Effects, startsAgent: boolean): CallClass {
  if (startsAgent) return "starter";
  if (!effects.read_only) return "write";
  return effects.concurrency_safe ? "together" : "alone";
}

/** Every change of an input is a fact with its source, reason and fields. */
export function recordMutation(
  host: CallHost,
  call: Call,
  source: string,
  reason: string,
  before: JsonObject,
  after: JsonObject,
): void {
  const { sensitive } = toolOf(call).input;
  const fields = changedFields(before, after);
  call.mutated = true;
  const record = recordable(after);
  host.recorder.record(
    "input.mutated",
    {
      source,
      reason,
      changed_fields: fields,
      observable_input: host.redactor.value(record, { sensitive }),
    },
    call,
  );
}

/** Issues quote pieces of values, and a piece of a secret is not recognised: quote the redacted ones. */
function quotable(
  host: CallHost,
  schema: ToolSchema,
  input: JsonObject,
  issues: ValidationIssue[],
): ValidationIssue[] {
  const redacted = host.redactor.value(input);
  if (redacted === input) return issues;
  const checked = schema.check(redacted);
  if (!checked.ok) return checked.issues;
  return issues.map(({ path, expected }) => ({
    path,
    expected,
    received: "something else",
    message: `expected ${expected}`,
  }));
}

function invalid(call: Call, issues: ValidationIssue[]): Ending {
  const { name, input } = toolOf(call);
  return ending(
    "failed",
    toolError({
      code: "invalid_arguments",
      error_class: "schema_validation_failed",
      message: formatIssues(name, issues, input.lowered.schema),
      retryable: true,
      recovery: "change_arguments",
      details: {
        issues: issues
          .slice(0, 20)
          .map(({ path, expected, received }) => ({ path, expected, received })),
      },
    }),
  );
}

function invalidValues(call: Call, message: string): Ending {
  return ending(
    "failed",
    toolError({
      code: "invalid_arguments",
      error_class: "invalid_arguments",
      message: `${call.tool_name}: ${message}`,
      retryable: true,
      recovery: "change_arguments",
    }),
  );
}

/** The tool's own fault: the model can do nothing about it. */
function broken(call: Call, what: string): Ending {
  return ending(
    "failed",
    toolError({
      code: "tool_broken",
      message: `${call.tool_name} cannot be called: ${what}.`,
      recovery: "use_another_tool",
    }),
  );
}
