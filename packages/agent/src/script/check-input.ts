// A call's `input` must be what JSON can carry, and bounded: YAML can say more, and aliases can make much
// of little.

import type { JsonObject } from "@soong/core";
import { isRecord } from "@soong/schema";
import type { Place, Shape } from "@soong/platform";

const MAX_CHARS = 5 * 1024 * 1024;

export const checkInput: Shape<JsonObject> = (value, place) => {
  if (!isRecord(value)) {
    place.report(
      `is ${place.kindOf(value)}; a mapping is expected (input_text sends any text as it is)`,
    );
    return;
  }
  let chars = 0;
  const around = new Set<object>();
  visit(value, place);
  if (chars > MAX_CHARS) place.report(`is longer than ${MAX_CHARS} characters as JSON`);

  function visit(part: unknown, at: Place): void {
    if (chars > MAX_CHARS) return;
    chars += typeof part === "string" ? part.length + 2 : 2;
    if (typeof part === "number" && !Number.isFinite(part)) {
      at.report(`is ${part}, which JSON has no word for`);
    }
    if (typeof part !== "object" || part === null) return;
    if (around.has(part)) {
      at.report("contains itself");
      return;
    }
    around.add(part);
    for (const [key, inner] of Object.entries(part)) {
      chars += key.length;
      visit(inner, at.in(Array.isArray(part) ? Number(key) : key));
    }
    around.delete(part);
  }
};
