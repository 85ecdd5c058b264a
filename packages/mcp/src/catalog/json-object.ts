// What came from outside as JSON: is it an object?

import type { JsonObject } from "@soong/core";

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
