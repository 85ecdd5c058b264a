// What a definition may say, as one check: every mistake is reported with its place, and a key nobody knows is one.

import { compilePolicy, matchesName, readSchema, type PermissionRule } from "@soong/core";
import {
  isMapping,
  kindOf,
  listOf,
  mapping,
  nonEmptyText,
  oneOf,
  textUpTo,
  type FieldCheck,
  type FieldPath,
} from "../document/index.ts";

const ROLES = ["main", "sub", "fork", "worker"];
const MODES = ["normal", "plan", "orchestrator"];
const MOST_TOOLS = 200;
const MOST_RULES = 200;
const MOST_DESCRIPTION_CHARS = 2_000;
const MOST_NAME_CHARS = 100;
const DAY_MS = 86_400_000;

const ID = /^[a-z][a-z0-9_-]{0,63}$/;

export function isDefinitionId(value: unknown): boolean {
  return typeof value === "string" && ID.test(value);
}

const id: FieldCheck = (value, path, report) => {
  if (isDefinitionId(value)) return;
  const what = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : kindOf(value);
  report(
    path,
    `is ${what}; an id is a lower-case letter, then at most 63 letters, digits, "_" or "-"`,
  );
};

function numberUpTo(most: number): FieldCheck {
  return (value, path, report) => {
    if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most) return;
    report(path, `is ${kindOf(value)}; a whole number from 1 to ${most} is expected`);
  };
}

const toolName: FieldCheck = (value, path, report) => {
  nonEmptyText(value, path, report);
  if (typeof value !== "string" || value === "") return;
  if (/[\s\p{C}]/u.test(value)) report(path, "holds white space or a control character");
  else if (!value.includes(".") && value !== "*") {
    report(path, 'has no dot; canonical names are dotted, such as "code.read_file" or "code.*"');
  }
};

function boundedList(what: string, item: FieldCheck, most: number): FieldCheck {
  const list = listOf(what, item);
  return (value, path, report) => {
    if (Array.isArray(value) && value.length > most) {
      report(path, `has ${value.length} entries; ${most} are the most`);
    } else list(value, path, report);
  };
}

const tools = boundedList("tool names", toolName, MOST_TOOLS);

const roles: FieldCheck = (value, path, report) => {
  listOf("roles", oneOf(ROLES))(value, path, report);
  if (Array.isArray(value) && value.length === 0) report(path, "is empty; nobody could start it");
};

const flag: FieldCheck = (value, path, report) => {
  if (typeof value !== "boolean") report(path, `is ${kindOf(value)}; true or false is expected`);
};

/** A definition that could allow would be a way around whoever starts it. */
const rules: FieldCheck = (value, path, report) => {
  if (!Array.isArray(value) || value.length > MOST_RULES) {
    boundedList("rules", () => {}, MOST_RULES)(value, path, report);
    return;
  }
  const compiled = compilePolicy({
    rules: value as PermissionRule[],
    // Only for the form of patterns: where they stand is settled when a run begins.
    roots: { project: "/", write: [] },
    home: "/",
  });
  const problems = compiled.ok ? [] : compiled.problems;
  for (const { field, message } of problems) report([...path, ...stepsOf(field)], message);
  for (const [index, rule] of value.entries()) {
    if (!isMapping(rule)) continue;
    if (rule["decision"] === "allow") {
      const at: FieldPath = [...path, index, "decision"];
      report(at, 'is "allow"; a definition can only narrow: write ask or deny');
    }
    if (Object.hasOwn(rule, "origin")) {
      report([...path, index, "origin"], "is not written: it is where the rule stands", "key");
    }
  }
};

/** `rules[0].path` within the rules. */
function stepsOf(field: string): FieldPath {
  return field
    .replace(/^rules/, "")
    .split(/[.[\]]/)
    .filter((step) => step !== "")
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

const schema: FieldCheck = (value, path, report) => {
  const read = isMapping(value) ? readSchema(value) : undefined;
  if (read === undefined)
    report(path, `is ${kindOf(value)}; a JSON Schema, a mapping, is expected`);
  else if (!read.ok) {
    for (const { pointer, message } of read.problems) report(path, `at "${pointer}": ${message}`);
  }
};

/** `system` is the body of a file, and a field in code. */
export function definitionCheck(form: "file" | "code"): FieldCheck {
  return mapping(
    "an agent definition",
    {
      id,
      name: textUpTo(MOST_NAME_CHARS),
      description: textUpTo(MOST_DESCRIPTION_CHARS),
      roles,
      model: nonEmptyText,
      mode: oneOf(MODES),
      suggested_tools: tools,
      allowed_tools: tools,
      rules,
      max_turns: numberUpTo(10_000),
      timeout_ms: numberUpTo(DAY_MS),
      expected_output_schema: schema,
      override: flag,
      ...(form === "code" ? { system: nonEmptyText } : {}),
    },
    (value, path, report) => {
      for (const key of form === "code" ? ["id", "description", "system"] : ["description"]) {
        if (!Object.hasOwn(value, key)) report([...path, key], "is missing");
      }
      const { suggested_tools: wanted, allowed_tools: allowed } = value;
      if (!Array.isArray(wanted) || !Array.isArray(allowed)) return;
      for (const [index, name] of wanted.entries()) {
        if (typeof name !== "string" || name.includes("*")) continue;
        if (allowed.some((one) => typeof one === "string" && matchesName(one, name))) continue;
        report([...path, "suggested_tools", index], `is not among its allowed_tools`);
      }
    },
  );
}
