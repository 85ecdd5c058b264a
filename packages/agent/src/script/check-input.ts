// A call's `input` must be what JSON can carry, and bounded: YAML can say more, and aliases can make much
// of little.

import { isMapping, kindOf, type FieldCheck, type FieldPath } from "../document/index.ts";

const MAX_CHARS = 5 * 1024 * 1024;

export const checkInput: FieldCheck = (value, path, report) => {
  if (!isMapping(value)) {
    report(
      path,
      `is ${kindOf(value)}; a mapping is expected (input_text sends any text as it stands)`,
    );
    return;
  }
  let chars = 0;
  const around = new Set<object>();
  visit(value, path);
  if (chars > MAX_CHARS) report(path, `is longer than ${MAX_CHARS} characters as JSON`);

  function visit(part: unknown, at: FieldPath): void {
    if (chars > MAX_CHARS) return;
    chars += typeof part === "string" ? part.length + 2 : 2;
    if (typeof part === "number" && !Number.isFinite(part)) {
      report(at, `is ${part}, which JSON has no word for`);
    }
    if (typeof part !== "object" || part === null) return;
    if (around.has(part)) {
      report(at, "contains itself");
      return;
    }
    around.add(part);
    for (const [key, inner] of Object.entries(part)) {
      chars += key.length;
      visit(inner, [...at, Array.isArray(part) ? Number(key) : key]);
    }
    around.delete(part);
  }
};
