// What a definition may say, as one check: every mistake is reported with its place, and an unknown key is one.

import { compilePolicy, readSchema, type PermissionRule } from "@soong/core";
import { matchesName } from "@soong/core/internal";
import { isRecord } from "@soong/schema";
import { shape, type DocumentPath, type Place, type Shape } from "@soong/platform";

const { choice, flag, list, object, optional, text, wholeNumber } = shape;

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

const id: Shape<string> = (value, place) => {
  if (isDefinitionId(value)) return;
  const what = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : place.kindOf(value);
  place.report(
    `is ${what}; an id is a lower-case letter, then at most 63 letters, digits, "_" or "-"`,
  );
};

const toolName = text({
  problem(name) {
    if (/[\s\p{C}]/u.test(name)) return "holds white space or a control character";
    return name.includes(".") || name === "*"
      ? undefined
      : 'has no dot; canonical names are dotted, such as "code.read_file" or "code.*"';
  },
});

const tools = optional(list(toolName, { of: "tool names", max: MOST_TOOLS }));

const roles = shape.refine(list(choice(ROLES), { of: "roles" }), (given, place) => {
  if (given.length === 0) place.report("is empty; no one could start it");
});

const ruleList = list(shape.anything, { of: "rules", max: MOST_RULES });

/** A definition that could allow would bypass the policy of its caller. */
const rules = shape.refine(ruleList, (value, place) => {
  const compiled = compilePolicy({
    rules: value as PermissionRule[],
    // Only for the form of patterns: where they stand is settled when a run begins.
    roots: { project: "/", write: [] },
    home: "/",
  });
  const problems = compiled.ok ? [] : compiled.problems;
  for (const { field, message } of problems) place.in(...splitFieldPath(field)).report(message);
  for (const [index, rule] of value.entries()) {
    if (!isRecord(rule)) continue;
    if (rule["decision"] === "allow") {
      const at = place.in(index, "decision");
      at.report('is "allow"; a definition can only narrow: write ask or deny');
    }
    if (Object.hasOwn(rule, "origin")) {
      place.in(index, "origin").reportKey("is not written: it is where the rule is");
    }
  }
});

/** `rules[0].path` within the rules. */
function splitFieldPath(field: string): DocumentPath {
  return field
    .replace(/^rules/, "")
    .split(/[.[\]]/)
    .filter((step) => step !== "")
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

const schema: Shape<unknown> = (value, place) => {
  const read = isRecord(value) ? readSchema(value) : undefined;
  if (read === undefined)
    place.report(`is ${place.kindOf(value)}; a JSON Schema, a mapping, is expected`);
  else if (!read.ok) {
    for (const { pointer, message } of read.problems) place.report(`at "${pointer}": ${message}`);
  }
};

const FIELDS = {
  name: optional(text({ max: MOST_NAME_CHARS, plain: true })),
  description: text({ max: MOST_DESCRIPTION_CHARS, plain: true }),
  roles: optional(roles),
  model: optional(text()),
  mode: optional(choice(MODES)),
  suggested_tools: tools,
  allowed_tools: tools,
  rules: optional(rules),
  max_turns: optional(wholeNumber(1, 10_000)),
  timeout_ms: optional(wholeNumber(1, DAY_MS)),
  expected_output_schema: optional(schema),
  override: optional(flag),
};

const OPTIONS = {
  what: "an agent definition",
  together(value: Readonly<Record<string, unknown>>, place: Place) {
    const { suggested_tools: wanted, allowed_tools: allowed } = value;
    if (!Array.isArray(wanted) || !Array.isArray(allowed)) return;
    for (const [index, name] of wanted.entries()) {
      if (typeof name !== "string" || name.includes("*")) continue;
      if (allowed.some((one) => typeof one === "string" && matchesName(one, name))) continue;
      place.in("suggested_tools", index).report("is not among its allowed_tools");
    }
  },
};

/** The system text is the body of the file. */
export const FILE_DEFINITION = object({ id: optional(id), ...FIELDS }, OPTIONS);
export const CODE_DEFINITION = object({ id, ...FIELDS, system: text() }, OPTIONS);
