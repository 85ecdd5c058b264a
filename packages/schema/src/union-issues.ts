// A value that fits no alternative of a union fails once for each of them. This keeps what helps: the
// errors of the one alternative that was meant, or one line that names what would have been accepted.

import type { ErrorObject } from "ajv/dist/2020.js";
import { describeSchema } from "./describe-schema.ts";
import { expectation, oneOf } from "./expectation.ts";

/** An error of the validator, or what a whole union came down to. */
export type Finding =
  | { kind: "error"; error: ErrorObject }
  | { kind: "union"; instancePath: string; schemaPath: string; expected: string; hint: string };

/** The validator reports the errors of every alternative first and then the union's own. */
export function settleUnions(errors: readonly ErrorObject[]): Finding[] {
  const settled: Finding[] = [];
  for (const error of errors) {
    if (!isUnionFailure(error)) {
      settled.push({ kind: "error", error });
      continue;
    }
    let start = settled.length;
    while (start > 0 && belongsTo(settled[start - 1], error)) start -= 1;
    settled.push(...settle(error, settled.splice(start)));
  }
  return settled;
}

function isUnionFailure({ keyword, params }: ErrorObject): boolean {
  return keyword === "anyOf" || (keyword === "oneOf" && !Array.isArray(params.passingSchemas));
}

function belongsTo(finding: Finding | undefined, union: ErrorObject): boolean {
  if (finding === undefined || !isWithin(instanceOf(finding), union.instancePath)) return false;
  if (schemaPathOf(finding).startsWith(`${union.schemaPath}/`)) return true;
  // Through a reference the path starts anew; what stands beside the union is of the same node.
  const beside = finding.kind === "error" && finding.error.parentSchema === union.parentSchema;
  const around = union.schemaPath.slice(0, union.schemaPath.lastIndexOf("/"));
  return !beside && !schemaPathOf(finding).startsWith(`${around}/allOf/`);
}

function settle(union: ErrorObject, findings: Finding[]): Finding[] {
  const here = union.instancePath;
  const alternatives = byAlternative(union, findings);
  const viable = alternatives.filter(
    ({ findings }) => !findings.some((one) => isRefusal(one, here)),
  );
  const [only, ...others] = viable;
  if (only !== undefined && others.length === 0) return only.findings;
  if (only === undefined) {
    const schemas: unknown[] = Array.isArray(union.schema) ? union.schema : [];
    const expected = [...new Set(schemas.map((schema) => describeSchema(schema)))].join(" or ");
    return [outcome(union, expected || "another value", "")];
  }

  // Alternatives told apart by one field with a fixed value: the one whose value came was meant.
  const meant = viable.filter(({ findings }) => !findings.some((one) => isTagMiss(one, here)));
  if (meant.length === 1 && meant[0] !== undefined) return meant[0].findings;
  if (meant.length === 0) {
    const tags = viable.map(({ findings }) => findings.find((one) => isTagMiss(one, here)));
    const places = new Set(tags.map((tag) => tag && instanceOf(tag)));
    const [place] = places;
    if (places.size === 1 && place !== undefined) {
      const values = tags.flatMap((tag) => (tag?.kind === "error" ? allowedValues(tag.error) : []));
      const { schemaPath } = union;
      const expected = oneOf([...new Set(values)]);
      return [{ kind: "union", instancePath: place, schemaPath, expected, hint: "" }];
    }
  }
  const hint = viable
    .slice(0, 4)
    .map(({ index, findings }) => `(${index + 1}) ${inShort(findings[0], here)}`)
    .join("; ");
  return [outcome(union, `one of ${alternatives.length} alternatives`, hint)];
}

function outcome(union: ErrorObject, expected: string, hint: string): Finding {
  const { instancePath, schemaPath } = union;
  return { kind: "union", instancePath, schemaPath, expected, hint };
}

function byAlternative(
  union: ErrorObject,
  findings: Finding[],
): { index: number; findings: Finding[] }[] {
  const groups = new Map<number, Finding[]>();
  let last = 0;
  for (const finding of findings) {
    const path = schemaPathOf(finding);
    if (path.startsWith(`${union.schemaPath}/`)) {
      last = parseInt(path.slice(union.schemaPath.length + 1), 10) || 0;
    }
    const group = groups.get(last);
    if (group === undefined) groups.set(last, [finding]);
    else group.push(finding);
  }
  return [...groups].map(([index, findings]) => ({ index, findings }));
}

const FIXED: ReadonlySet<string> = new Set(["const", "enum"]);

/** The alternative is for another kind of value altogether. */
function isRefusal(finding: Finding, here: string): boolean {
  if (instanceOf(finding) !== here) return false;
  if (finding.kind === "union") return finding.hint === "";
  const { keyword } = finding.error;
  return keyword === "type" || keyword === "false schema" || FIXED.has(keyword);
}

function isTagMiss(finding: Finding, here: string): boolean {
  const isChild = instanceOf(finding).lastIndexOf("/") === here.length;
  return finding.kind === "error" && isChild && FIXED.has(finding.error.keyword);
}

function allowedValues({ params }: ErrorObject): unknown[] {
  return Array.isArray(params.allowedValues) ? params.allowedValues : [params.allowedValue];
}

function inShort(finding: Finding | undefined, here: string): string {
  if (finding === undefined) return "does not fit";
  const field = instanceOf(finding).slice(here.length + 1);
  const prefix = field === "" ? "" : `${field}: `;
  if (finding.kind === "union") return `${prefix}expected ${finding.expected}`;
  const { keyword, params } = finding.error;
  if (keyword === "required") return `${prefix}"${String(params.missingProperty)}" is missing`;
  if (keyword === "additionalProperties") {
    return `${prefix}"${String(params.additionalProperty)}" is unknown`;
  }
  return `${prefix}expected ${expectation(keyword, params)}`;
}

function instanceOf(finding: Finding): string {
  return finding.kind === "error" ? finding.error.instancePath : finding.instancePath;
}

function schemaPathOf(finding: Finding): string {
  return finding.kind === "error" ? finding.error.schemaPath : finding.schemaPath;
}

function isWithin(path: string, here: string): boolean {
  return path.startsWith(here) && (path.length === here.length || path[here.length] === "/");
}
