// From a schema to a check. The validator is made on the first value that is not plainly valid, kept as long as the
// schema lives, and cannot be hurt by a schema: no I/O, no unbounded time, no exception leaves here.

import { Ajv2020, _, Name } from "ajv/dist/2020.js";
import type { CodeKeywordDefinition, ValidateFunction } from "ajv/dist/2020.js";
import type { KeywordErrorCxt } from "ajv/dist/types/index.js";
import { canonicalJson } from "./canonical-json.ts";
import { FORMATS } from "./formats.ts";
import { countCharacters, type JsonSchema } from "./json.ts";
import { plainCheck } from "./plain-check.ts";
import { COST_KEYWORD, prepareSchema, type PreparedSchema } from "./prepare-schema.ts";
import { sensitivePaths } from "./sensitive-paths.ts";
import { toIssues, type ValidationIssue } from "./validation-issues.ts";

export type SchemaCheck = (value: unknown) => CheckResult;
export type CheckResult = { ok: true } | { ok: false; issues: ValidationIssue[] };

/** Values are never coerced, defaults never filled in. The same schema object gives the same check. */
export function compileSchema(schema: JsonSchema): SchemaCheck {
  const known = CHECKS.get(schema);
  if (known !== undefined) return known;
  let run: SchemaCheck = (value) => {
    run = build(schema);
    return run(value);
  };
  const check: SchemaCheck = (value) => run(value);
  CHECKS.set(schema, check);
  return check;
}

const CHECKS = new WeakMap<JsonSchema, SchemaCheck>();
const OK: CheckResult = Object.freeze({ ok: true });

/** About a second of the cheapest work: one step is one small schema applied to one value. */
const MAX_STEPS = 20_000_000;
/** Beyond this no one reads on, and a hostile list could fill the memory with complaints. */
const MAX_ERRORS = 1_000;

type Meter = { left: number; maxErrors: number; stop: () => never };
class TooMuch extends Error {}

function build(schema: JsonSchema): SchemaCheck {
  const isPlainlyValid = plainCheck(schema);
  let validate: SchemaCheck | undefined;
  return (value) => {
    if (isPlainlyValid?.(value) === true) return OK;
    validate ??= buildValidator(schema);
    return validate(value);
  };
}

function buildValidator(schema: JsonSchema): SchemaCheck {
  const meter: Meter = {
    left: 0,
    maxErrors: 0,
    stop: () => {
      throw new TooMuch();
    },
  };
  let prepared: PreparedSchema;
  let everyError: ValidateFunction;
  try {
    prepared = prepareSchema(schema);
    everyError = compile(prepared, meter, "every error");
  } catch (error) {
    return uncheckable(error instanceof Error ? error.message : "unknown reason");
  }
  let firstError: ValidateFunction | undefined;

  const explain = (validate: ValidateFunction, value: unknown): CheckResult => {
    const issues = toIssues(validate.errors ?? [], value, sensitivePaths(schema));
    validate.errors = null;
    return { ok: false, issues };
  };

  const tryAgain = (value: unknown): CheckResult => {
    if (meter.left < 0) return tooCostly(value);
    // So many errors may all belong to one refused alternative of a union: ask only for the verdict.
    meter.left = MAX_STEPS;
    meter.maxErrors = Number.POSITIVE_INFINITY;
    try {
      firstError ??= compile(prepared, meter, "first error");
      return firstError(value) ? OK : explain(firstError, value);
    } catch {
      return tooCostly(value);
    }
  };

  return (value) => {
    meter.left = MAX_STEPS;
    meter.maxErrors = MAX_ERRORS;
    try {
      return everyError(value) ? OK : explain(everyError, value);
    } catch {
      return tryAgain(value);
    }
  };
}

function compile(
  prepared: PreparedSchema,
  meter: Meter,
  mode: "every error" | "first error",
): ValidateFunction {
  const regExp = Object.assign(
    (source: string) => {
      const regex = prepared.patterns.get(source);
      return {
        toString: () => source,
        test: (text: string): boolean => {
          if (regex === undefined) return true;
          // At its worst the engine takes each instruction for each character.
          meter.left -= ((text.length + 1) * regex.size) / 2;
          if (meter.left < 0) meter.stop();
          return regex.test(text);
        },
      };
    },
    { code: "linearRegex" },
  );
  // An instance for each schema: nothing one schema declares can be seen by another, and all of it
  // can be collected together.
  const ajv = new Ajv2020({
    allErrors: mode === "every error",
    strict: false,
    strictNumbers: true,
    validateSchema: false,
    meta: false,
    logger: false,
    messages: false,
    verbose: true,
    inlineRefs: false,
    addUsedSchema: false,
    // A field may be called like a member of every object (`constructor`, `toString`).
    ownProperties: true,
    formats: { ...FORMATS },
    code: { regExp, optimize: false },
  });
  for (const definition of keywords(meter)) {
    ajv.removeKeyword(definition.keyword as string);
    ajv.addKeyword(definition);
  }
  return ajv.compile(prepared.schema);
}

/** Our own meter, and replacements for keywords whose usual cost grows faster than the value. */
function keywords(meter: Meter): CodeKeywordDefinition[] {
  const spend = (steps: number): void => {
    meter.left -= steps;
    if (meter.left < 0) meter.stop();
  };
  const duplicate = (items: unknown[]) => findDuplicate(items, (read) => spend(read / 8));
  const countMetered = (text: string): number => {
    spend(text.length / 8);
    return countCharacters(text);
  };
  const lengthKeyword = (
    keyword: string,
    isWrong: (text: string, limit: number) => boolean,
  ): CodeKeywordDefinition => ({
    keyword,
    type: "string",
    schemaType: "number",
    error: { message: "", params: ({ schemaCode }: KeywordErrorCxt) => _`{limit: ${schemaCode}}` },
    code: (cxt) => {
      const wrong = cxt.gen.scopeValue("func", { ref: isWrong });
      cxt.fail(_`${wrong}(${cxt.data}, ${cxt.schemaCode})`);
    },
  });
  return [
    {
      keyword: COST_KEYWORD,
      schemaType: "number",
      code: ({ gen, schemaCode }) => {
        const own = gen.scopeValue("obj", { ref: meter });
        const errors = new Name("errors");
        gen.code(
          _`if ((${own}.left -= ${schemaCode}) < 0 || ${errors} > ${own}.maxErrors) ${own}.stop()`,
        );
      },
    },
    // A code point takes one or two units, so most texts are decided by their length alone.
    lengthKeyword(
      "minLength",
      (text, limit) =>
        text.length < 2 * limit && (text.length < limit || countMetered(text) < limit),
    ),
    lengthKeyword(
      "maxLength",
      (text, limit) =>
        text.length > limit && (text.length > 2 * limit || countMetered(text) > limit),
    ),
    {
      keyword: "uniqueItems",
      type: "array",
      schemaType: "boolean",
      error: { message: "", params: ({ params }: KeywordErrorCxt) => _`${params.pair}` },
      code: (cxt) => {
        if (cxt.schema !== true) return;
        const find = cxt.gen.scopeValue("func", { ref: duplicate });
        const pair = cxt.gen.const("pair", _`${find}(${cxt.data})`);
        cxt.setParams({ pair });
        cxt.fail(_`${pair} !== undefined`);
      },
    },
  ];
}

/**
 * The indexes of the first two equal items, in time linear to their size: the usual pairwise comparison takes minutes on
 * an array of objects that fits into one call's arguments. `spend` receives how much was read.
 */
function findDuplicate(
  items: readonly unknown[],
  spend: (characters: number) => void,
): { first: number; second: number } | undefined {
  const seen = new Map<unknown, number>();
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    let key: unknown = item;
    if (typeof item === "object" && item !== null) key = `{}${canonicalJson(item)}`;
    else if (typeof item === "string") key = `"${item}`;
    spend(typeof key === "string" ? key.length : 1);
    const first = seen.get(key);
    if (first !== undefined) return { first, second: index };
    seen.set(key, index);
  }
  return undefined;
}

function uncheckable(reason: string): SchemaCheck {
  const issue: ValidationIssue = {
    path: "",
    expected: "a schema that can be checked",
    received: "one that cannot",
    message: `this tool's schema cannot be used: ${reason.slice(0, 300)}`,
  };
  return () => ({ ok: false, issues: [issue] });
}

function tooCostly(value: unknown): CheckResult {
  const message = "checking the value against its schema takes too long; send less at once";
  const received = Array.isArray(value) ? "a large array" : "a large value";
  return { ok: false, issues: [{ path: "", expected: "a smaller value", received, message }] };
}
