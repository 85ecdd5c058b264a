// Validation of one input (SCHEMA-4, SCHEMA-6, DEF-4): schema, the author's own schema, normalise, values,
// and then what the call would do with it. A changed input comes back through here (PIPE-2). And of its output (SCHEMA-7).
// An author's schema is code like any other: it is asked within its time, and its answer may be anything.

import {
  formatIssues,
  isPlainRecord,
  sameJson,
  type JsonObject,
  type ValidationIssue,
} from "@soong/schema";
import { describeNoAnswer } from "../journal/index.ts";
import type { ToolSchema } from "../registry/registered-tool.ts";
import { readThrown, recordable, takeSnapshot } from "../result/read-return.ts";
import { effectsUnder } from "../surface/effects-under.ts";
import { callEffects, isPromise, messageOf } from "../tool/index.ts";
import { withinCall, type AcceptedCall, type Call, type Ending } from "./call.ts";
import { createPlaces } from "./context.ts";
import { callError, endCall, endCancelled } from "./endings.ts";

type OwnSchema = NonNullable<ToolSchema["own"]>;

/** Sets the call's input, effects and class; or says why the input is refused. A promise only where the author's own code is asked. */
export function validateInput(
  call: AcceptedCall,
  given: JsonObject,
): Ending | undefined | Promise<Ending | undefined> {
  const { input: schema, definition } = call.tool;
  call.observable = undefined;
  const checked = schema.check(given);
  if (!checked.ok) return endInvalid(call, quotable(call, given, checked.issues));
  call.input = given;
  const isChecked =
    schema.own === undefined &&
    definition.normalise === undefined &&
    definition.validate === undefined;
  return isChecked ? classify(call) : validateByAuthor(call);
}

async function validateByAuthor(call: AcceptedCall): Promise<Ending | undefined> {
  const { input: schema, definition } = call.tool;
  const problem =
    (schema.own && (await applyOwnSchema(call, schema.own))) ??
    (definition.normalise && normaliseInput(call)) ??
    (definition.validate && (await validateValues(call)));
  return problem ?? classify(call);
}

/** What the author's schema makes of the input is the input from then on. */
async function applyOwnSchema(call: AcceptedCall, own: OwnSchema): Promise<Ending | undefined> {
  const { input } = call;
  const answer = await askOwnSchema(call, own, input);
  if (answer === undefined) return endCancelled(call);
  if (typeof answer === "string") return endBroken(call, `its schema ${answer}`);
  if (answer.issues !== undefined) return endInvalid(call, answer.issues);
  const output = answer.value as JsonObject;
  if (typeof output !== "object" || output === null || Array.isArray(output)) {
    return endBroken(call, "its schema made something else of an object");
  }
  if (sameJson(input, output)) return undefined;
  // What a transform made is not what may be given: then hooks see, and may return, what was given.
  if (!call.tool.input.check(recordable(output)).ok) call.observable = input;
  recordMutation(call, "schema", "defaults and transforms of the author's schema", input, output);
  call.input = output;
  return undefined;
}

function normaliseInput(call: AcceptedCall): Ending | undefined {
  const before = recordable(call.input);
  try {
    // On a copy: most change what they are given, and the change is to be seen.
    const input: unknown = call.tool.definition.normalise?.(copyPlain(call.input));
    if (isPromise(input)) {
      return endBroken(call, "its normalise answered with a promise; it has to answer at once");
    }
    if (!isPlainRecord(input)) {
      return endBroken(call, "its normalise did not return a plain object");
    }
    // What was JSON stays JSON; what the author's schema made of it may be anything.
    if (isJson(call.input)) takeSnapshot(input);
    call.input = input as JsonObject;
  } catch (error) {
    return endBroken(call, `its normalise failed: ${messageOf(error)}`);
  }
  if (!sameJson(before, recordable(call.input))) {
    recordMutation(call, "normalise", "normalised by the tool", before as JsonObject, call.input);
  }
  return undefined;
}

function isJson(value: unknown): boolean {
  try {
    return takeSnapshot(value) !== undefined;
  } catch {
    return false;
  }
}

/** Lists and plain objects anew; anything else a schema made (a Date, a Map) as it is. */
function copyPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyPlain);
  if (!isPlainRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyPlain(item)]));
}

async function validateValues(call: AcceptedCall): Promise<Ending | undefined> {
  const waited = await withinCall(call, () => call.tool.definition.validate?.(call.input));
  if (waited.kind === "given_up") return endCancelled(call);
  if (waited.kind === "timed_out") {
    return endBroken(call, `its validate ${describeNoAnswer(waited)}`);
  }
  if (waited.kind === "threw") {
    const outcome = readThrown(waited.error);
    return outcome.error?.code === "execution_failed"
      ? endInvalidValues(call, outcome.error.message)
      : { status: "failed", outcome, executed: false };
  }
  const value: unknown = waited.value;
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return endInvalidValues(call, value);
  return endBroken(call, `its validate answered with a ${typeof value} instead of text or nothing`);
}

/** What the call would do with its input, and so how it is scheduled. */
function classify(call: AcceptedCall): undefined {
  const { tool, run } = call;
  const { definition, source } = tool;
  const { effects, problem } = callEffects(
    definition,
    tool.effects,
    call.input,
    source.trusted,
    () => createPlaces(run, tool),
  );
  if (problem !== undefined) {
    const message = `${tool.name}: ${problem}; the call is treated as a write`;
    run.recorder.record("error", { code: "bad_classification", message }, call, "warn");
  }
  // A server gives no account of its calls; what it is comes from the user.
  call.effects = source.kind === "mcp" ? effectsUnder(run.policy, tool) : effects;
  const { read_only, concurrency_safe } = call.effects;
  if (definition.starts_agent === true && source.kind === "agent") call.class = "spawns_agent";
  else if (!read_only) call.class = "write";
  else call.class = concurrency_safe ? "parallel" : "exclusive";
}

/** Every change of an input is a fact with its source, reason and fields. */
export function recordMutation(
  call: AcceptedCall,
  source: string,
  reason: string,
  before: JsonObject,
  after: JsonObject,
): void {
  const { recorder, redactor } = call.run;
  const { sensitive } = call.tool.input;
  call.mutated = true;
  const observable_input = redactor.value(recordable(after), { sensitive });
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  // Only those at the top: enough to show a user what it did.
  const changed_fields = [...fields]
    .filter((field) => !sameJson(before[field], after[field]))
    .toSorted();
  recorder.record("input.mutated", { source, reason, changed_fields, observable_input }, call);
}

/** Issues quote pieces of values, and a piece of a secret is not recognised: quote the redacted ones. */
function quotable(
  { run, tool }: AcceptedCall,
  input: JsonObject,
  issues: ValidationIssue[],
): ValidationIssue[] {
  const redacted = run.redactor.value(input);
  if (redacted === input) return issues;
  const checked = tool.input.check(redacted);
  if (!checked.ok) return checked.issues;
  return issues.map(({ path, expected }) => ({
    path,
    expected,
    received: "something else",
    message: `expected ${expected}`,
  }));
}

function endInvalid({ tool }: AcceptedCall, issues: ValidationIssue[]): Ending {
  const message = formatIssues(tool.name, issues, tool.input.lowered.schema);
  const reported = issues
    .slice(0, 20)
    .map(({ path, expected, received }) => ({ path, expected, received }));
  return endCall("failed", "invalid_arguments", message, {
    error_class: "schema_validation_failed",
    details: { issues: reported },
  });
}

function endInvalidValues({ tool_name }: Call, message: string): Ending {
  return endCall("failed", "invalid_arguments", `${tool_name}: ${message}`);
}

/** The tool's own fault: the model can do nothing about it. */
function endBroken({ tool_name }: Call, what: string): Ending {
  return endCall("failed", "tool_broken", `${tool_name} cannot be called: ${what}.`);
}

/** SCHEMA-7: output that is not what the tool declared is a failed call, and says how. */
export async function validateOutput(call: Call, output: ToolSchema, end: Ending): Promise<Ending> {
  const { outcome, status } = end;
  if (status !== "succeeded" && status !== "partial") return end;
  const value = outcome.data === undefined ? outcome.returned_text : outcome.data.value;
  const checked = output.check(value);
  if (!checked.ok) return endMismatch(call, end, describeIssues(checked.issues));
  const answer = output.own && (await askOwnSchema(call, output.own, value));
  if (answer === undefined) return end;
  if (typeof answer === "string") return endMismatch(call, end, `the schema ${answer}`);
  return answer.issues === undefined ? end : endMismatch(call, end, describeIssues(answer.issues));
}

function describeIssues(issues: readonly ValidationIssue[]): string {
  return issues
    .slice(0, 5)
    .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))
    .join("; ");
}

/** The output is kept, so that the cause can be found. */
function endMismatch({ tool_name }: Call, end: Ending, problem: string): Ending {
  const message = `${tool_name} ran, but its output does not fit its own output_schema: ${problem}`;
  const error = callError("output_schema_mismatch", message);
  const { data, ...rest } = end.outcome;
  const outcome: Ending["outcome"] =
    data !== undefined && rest.content.length === 0
      ? { ...rest, content: [{ type: "json", json: data.value }] }
      : end.outcome;
  return { ...end, status: "failed", outcome: { ...outcome, status: "failed", error } };
}

type OwnAnswer =
  | { value: unknown; issues?: undefined }
  | { issues: ValidationIssue[]; value?: undefined };

/** The answer of the author's schema, or what is wrong with it; undefined when the call was cancelled meanwhile. */
async function askOwnSchema(
  call: Call,
  own: OwnSchema,
  value: unknown,
): Promise<OwnAnswer | string | undefined> {
  const waited = await withinCall(call, () => own(value));
  if (waited.kind === "given_up") return undefined;
  return waited.kind === "answered" ? readOwnAnswer(waited.value) : describeNoAnswer(waited);
}

function readOwnAnswer(given: unknown): OwnAnswer | string {
  try {
    if (typeof given !== "object" || given === null) return "did not answer with an object";
    const { issues, value } = given as { issues?: unknown; value?: unknown };
    if (issues !== undefined) {
      if (!Array.isArray(issues) || issues.length === 0) return "gave issues that are not a list";
      return { issues: issues.slice(0, MAX_ISSUES).map(readIssue) };
    }
    return "value" in given ? { value } : "answered with neither issues nor a value";
  } catch {
    return "answered with something that cannot be read";
  }
}

const MAX_ISSUES = 100;
const MAX_CHARS = 500;

function readIssue(given: unknown): ValidationIssue {
  const { message, path } = (given ?? {}) as { message?: unknown; path?: unknown };
  const text = typeof message === "string" && message !== "" ? message : "does not fit";
  const expected = text.slice(0, MAX_CHARS);
  return {
    path: Array.isArray(path) ? formatPath(path) : "",
    expected,
    received: "a value that does not fit",
    message: expected,
  };
}

function formatPath(path: readonly unknown[]): string {
  const steps = path.map((part) => {
    const key: unknown =
      typeof part === "object" && part !== null ? (part as { key?: unknown }).key : part;
    return typeof key === "number" ? `[${key}]` : `.${String(key)}`;
  });
  return steps.join("").replace(/^\./, "").slice(0, MAX_CHARS);
}
