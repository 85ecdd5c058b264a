// Validation of one input (SCHEMA-4, SCHEMA-6, DEF-4): schema, the author's own schema, normalise, values,
// and then what the call would do with it. A changed input comes back through here (PIPE-2).

import type { GivenUp, Waited } from "../journal/index.ts";
import { formatIssues, isPlainRecord, type JsonObject, type ValidationIssue } from "@soong/schema";
import type { ToolSchema } from "../registry/index.ts";
import { readThrown, recordable, snapshotOf } from "../result/index.ts";
import type { CallClass } from "../schedule/index.ts";
import { effectsUnder } from "../surface/index.ts";
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
  ending,
  sameJson,
  toolOf,
  withinCall,
  type Call,
  type Ending,
} from "./call.ts";
import { placesOf } from "./context.ts";
import type { RunAuthority, RunBase } from "./host.ts";
import { askOwnSchema } from "./validate-output.ts";

type ValidationHost = RunBase & RunAuthority;

type OwnSchema = NonNullable<ToolSchema["own"]>;

/** Sets the call's input, effects and class; or says why the input is refused. */
export async function validateInput(
  host: ValidationHost,
  call: Call,
  given: JsonObject,
): Promise<Ending | undefined> {
  const { input: schema, definition } = toolOf(call);
  call.observable = undefined;
  const checked = schema.check(given);
  if (!checked.ok) return invalid(call, quotable(host, schema, given, checked.issues));
  call.input = given;
  const problem =
    (schema.own && (await applyOwnSchema(host, call, schema.own))) ??
    (definition.normalise && normaliseInput(host, call, definition)) ??
    (definition.validate && (await validateValues(host, call, definition)));
  if (problem !== undefined) return problem;
  classify(host, call);
  return undefined;
}

/** What the author's schema makes of the input is the input from then on. */
async function applyOwnSchema(
  host: ValidationHost,
  call: Call,
  own: OwnSchema,
): Promise<Ending | undefined> {
  const { input } = call;
  const answer = await askOwnSchema(host, call, own, input);
  if (answer === undefined) return cancelledEnding(call);
  if (typeof answer === "string") return broken(call, `its schema ${answer}`);
  if (answer.issues !== undefined) return invalid(call, answer.issues);
  const output = answer.value as JsonObject;
  if (typeof output !== "object" || output === null || Array.isArray(output)) {
    return broken(call, "its schema made something else of an object");
  }
  if (sameJson(input, output)) return undefined;
  // What a transform made is not what may be given: then hooks see, and may return, what was given.
  const isGivable = toolOf(call).input.check(recordable(output)).ok;
  if (!isGivable) call.observable = input;
  const reason = "defaults and transforms of the author's schema";
  recordMutation(host, call, "schema", reason, input, output);
  call.input = output;
  return undefined;
}

function normaliseInput(host: ValidationHost, call: Call, definition: AnyTool): Ending | undefined {
  const before = recordable(call.input);
  const input = normalise(definition, call.input);
  if (typeof input === "string") return broken(call, input);
  call.input = input;
  if (!sameJson(before, recordable(input))) {
    const reason = "normalised by the tool";
    recordMutation(host, call, "normalise", reason, before as JsonObject, input);
  }
  return undefined;
}

async function validateValues(
  host: ValidationHost,
  call: Call,
  definition: AnyTool,
): Promise<Ending | undefined> {
  const { default_timeout_ms } = host.config.tools;
  const waited = await withinCall(host.clock, call, default_timeout_ms, () =>
    definition.validate?.(call.input),
  );
  return valueProblem(call, waited);
}

/** The normalised input, or what is wrong with it. */
function normalise(definition: AnyTool, given: JsonObject): JsonObject | string {
  try {
    // On a copy: most change what they are given, and the change is to be seen.
    const input: unknown = definition.normalise?.(copyOf(given));
    if (isPromise(input)) return "its normalise answered with a promise; it has to answer at once";
    if (!isPlainRecord(input)) return "its normalise did not return a plain object";
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
  if (!isPlainRecord(value)) return value;
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

/** What the call would do with its input, and so how it is scheduled. */
function classify(host: ValidationHost, call: Call): void {
  const tool = toolOf(call);
  const { effects, problem } = callEffects(
    tool.definition,
    tool.effects,
    call.input,
    tool.source.trusted,
    () => placesOf(host, tool),
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
}

function classOf(effects: Effects, startsAgent: boolean): CallClass {
  if (startsAgent) return "spawns_agent";
  if (!effects.read_only) return "write";
  return effects.concurrency_safe ? "parallel" : "exclusive";
}

/** Every change of an input is a fact with its source, reason and fields. */
export function recordMutation(
  host: ValidationHost,
  call: Call,
  source: string,
  reason: string,
  before: JsonObject,
  after: JsonObject,
): void {
  const { sensitive } = toolOf(call).input;
  call.mutated = true;
  const record = recordable(after);
  host.recorder.record(
    "input.mutated",
    {
      source,
      reason,
      changed_fields: changedFields(before, after),
      observable_input: host.redactor.value(record, { sensitive }),
    },
    call,
  );
}

/** Which top-level fields differ; enough to show a user what a mutation did. */
function changedFields(before: JsonObject, after: JsonObject): string[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].filter((field) => !sameJson(before[field], after[field])).toSorted();
}

/** Issues quote pieces of values, and a piece of a secret is not recognised: quote the redacted ones. */
function quotable(
  host: ValidationHost,
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
