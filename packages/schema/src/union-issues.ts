// A value that fits no alternative of a union fails once for each of them. This keeps what helps: the
// errors of the one alternative that was meant, or one line that names what would have been accepted.

import type { ErrorObject } from "ajv/dist/2020.js";
import { describeChoice, describeExpected, describeSchema } from "./describe-schema.ts";

/** The keyword of what a whole union came down to: `expected` and `hint` are in its params. */
export const UNION = "union";

/** The validator reports the errors of every alternative first and then the union's own. */
export function settleUnions(errors: readonly ErrorObject[]): ErrorObject[] {
  const settled: ErrorObject[] = [];
  for (const error of errors) {
    const { keyword, params } = error;
    const isUnion =
      keyword === "anyOf" || (keyword === "oneOf" && !Array.isArray(params.passingSchemas));
    if (!isUnion) {
      settled.push(error);
      continue;
    }
    let start = settled.length;
    while (start > 0 && belongsTo(settled[start - 1], error)) start -= 1;
    settled.push(...settleUnion(error, settled.splice(start)));
  }
  return settled;
}

function belongsTo(error: ErrorObject | undefined, union: ErrorObject): boolean {
  if (error === undefined || !isWithin(error.instancePath, union.instancePath)) return false;
  if (error.schemaPath.startsWith(`${union.schemaPath}/`)) return true;
  // Through a reference the path starts anew; what is beside the union is of the same node.
  const isBeside = error.parentSchema === union.parentSchema;
  const around = union.schemaPath.slice(0, union.schemaPath.lastIndexOf("/"));
  return !isBeside && !error.schemaPath.startsWith(`${around}/allOf/`);
}

function settleUnion(union: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[] {
  const here = union.instancePath;
  const alternatives = [...groupByAlternative(union, errors)];
  const viable = alternatives.filter(([, own]) => !own.some((error) => isRefusal(error, here)));
  const [only] = viable;
  if (only !== undefined && viable.length === 1) return only[1];
  if (only === undefined) {
    const schemas: unknown[] = Array.isArray(union.schema) ? union.schema : [];
    const expected = [...new Set(schemas.map((schema) => describeSchema(schema)))].join(" or ");
    return [settle(union, expected || "another value")];
  }

  // Alternatives with a discriminator, one field with a fixed value: the one with the given value was meant.
  const tags = viable.map(([, own]) => own.find((error) => isTagMiss(error, here)));
  const meant = viable.filter((_, index) => tags[index] === undefined);
  if (meant.length === 1 && meant[0] !== undefined) return meant[0][1];
  const places = new Set(tags.map((tag) => tag?.instancePath));
  const [place] = places;
  if (meant.length === 0 && places.size === 1 && place !== undefined) {
    const values = tags.flatMap((tag): unknown[] => {
      return tag?.params.allowedValues ?? [tag?.params.allowedValue];
    });
    return [settle(union, describeChoice([...new Set(values)]), "", place)];
  }
  const hint = viable
    .slice(0, 4)
    .map(([index, [first]]) => `(${index + 1}) ${first ? describeShort(first, here) : ""}`)
    .join("; ");
  return [settle(union, `one of ${alternatives.length} alternatives`, hint)];
}

function settle(
  { schemaPath, instancePath: here }: ErrorObject,
  expected: string,
  hint = "",
  instancePath = here,
): ErrorObject {
  return { keyword: UNION, instancePath, schemaPath, params: { expected, hint } };
}

function groupByAlternative(
  union: ErrorObject,
  errors: readonly ErrorObject[],
): Map<number, ErrorObject[]> {
  const groups = new Map<number, ErrorObject[]>();
  let last = 0;
  for (const error of errors) {
    if (error.schemaPath.startsWith(`${union.schemaPath}/`)) {
      last = parseInt(error.schemaPath.slice(union.schemaPath.length + 1), 10) || 0;
    }
    groups.set(last, [...(groups.get(last) ?? []), error]);
  }
  return groups;
}

const FIXED: ReadonlySet<string> = new Set(["const", "enum"]);

/** The alternative is for another kind of value altogether. */
function isRefusal({ instancePath, keyword, params }: ErrorObject, here: string): boolean {
  if (instancePath !== here) return false;
  if (keyword === UNION) return params.hint === "";
  return keyword === "type" || keyword === "false schema" || FIXED.has(keyword);
}

function isTagMiss({ instancePath, keyword }: ErrorObject, here: string): boolean {
  return FIXED.has(keyword) && instancePath.lastIndexOf("/") === here.length;
}

function describeShort({ instancePath, keyword, params }: ErrorObject, here: string): string {
  const field = instancePath.slice(here.length + 1);
  const prefix = field === "" ? "" : `${field}: `;
  if (keyword === UNION) return `${prefix}expected ${params.expected}`;
  if (keyword === "required") return `${prefix}"${params.missingProperty}" is missing`;
  if (keyword === "additionalProperties") {
    return `${prefix}"${params.additionalProperty}" is unknown`;
  }
  return `${prefix}expected ${describeExpected(keyword, params)}`;
}

function isWithin(path: string, here: string): boolean {
  return path.startsWith(here) && (path.length === here.length || path[here.length] === "/");
}
