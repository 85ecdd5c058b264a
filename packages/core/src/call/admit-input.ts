// Validation of one input (SCHEMA-4, SCHEMA-6, DEF-4): schema, the author's own schema, normalise, values,
// and then what the call would do with it. A changed input comes back through here (PIPE-2).

import { isThenable, type GivenUp, type Waited } from "../journal/index.ts";
import {
  formatIssues,
  type JsonObject,
  type StandardIssue,
  type StandardResult,
  type ValidationIssue,
} from "../schema/index.ts";
import { callEffects, messageOf, toolError, type Effects } from "../tool/index.ts";
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
import type { CallClass } from "../schedule/index.ts";

/** Sets the call's input, effects and class; or says why the input cannot be taken. */
export function admitInput(
  host: CallHost,
  call: Call,
  input: JsonObject,
): Ending | undefined | Promise<Ending | undefined> {
  const { input: schema } = toolOf(call);
  const checked = schema.check(input);
  if (!checked.ok) return invalid(call, checked.issues);
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
  const checked = waited.value;
  if (checked.issues !== undefined) return invalid(call, checked.issues.map(issueOf));
  const output = checked.value as JsonObject;
  if (sameJson(input, output)) return settle(host, call, input);
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
    try {
      input = definition.normalise(given) as JsonObject;
    } catch (error) {
      return broken(call, `its normalise threw: ${messageOf(error)}`);
    }
    if (typeof input !== "object" || input === null) {
      return broken(call, "its normalise did not return an object");
    }
    if (!sameJson(given, input)) {
      recordMutation(host, call, "normalise", "normalised by the tool", given, input);
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

function valueProblem(call: Call, waited: Waited<unknown> | GivenUp): Ending | undefined {
  if (waited.kind === "given_up") return cancelledEnding(call);
  if (waited.kind === "timed_out") {
    return broken(call, `its validate did not answer within ${waited.ms} ms`);
  }
  if (waited.kind === "threw") return invalidValues(call, messageOf(waited.error));
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
  );
  if (problem !== undefined) {
    const message = `${tool.name}: ${problem}; the call is treated as a write`;
    host.recorder.record("error", { code: "bad_classification", message }, call, "warn");
  }
  call.effects = effects;
  call.class = classOf(
    effects,
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
  const record = JSON.parse(JSON.stringify(after)) as JsonObject;
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

function invalid(call: Call, issues: ValidationIssue[]): Ending {
  const { name, input } = toolOf(call);
  return ending(
    "failed",
    toolError({
      code: "invalid_arguments",
      error_class: "schema_validation_failed",
      message: formatIssues(name, issues, input.original),
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

/** What the author's own schema says is wrong, in the form of ours. */
function issueOf({ message, path = [] }: StandardIssue): ValidationIssue {
  const keys = path.map((part) => (typeof part === "object" ? part.key : part));
  const where = keys
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");
  const text = message.slice(0, 500);
  return {
    path: where,
    expected: text,
    received: "a value that does not fit",
    message: text,
  };
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
