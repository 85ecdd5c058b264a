// Why a model of the chain cannot take a request (MODEL-4): a run's tools have one list and one set of names and
// schemas, made for its first model, and another must be able to read them.

import type { ModelProfile, ModelTools } from "@soong/core";
import type { Model } from "../model/index.ts";
import { schemaViolation } from "../provider/index.ts";

/** A clause; undefined when it can. */
export function findToolExclusion({ profile }: Model, shown: ModelTools): string | undefined {
  const known = judged.get(shown) ?? new Map<ModelProfile, string | undefined>();
  judged.set(shown, known);
  if (!known.has(profile)) known.set(profile, checkProfile(profile, shown));
  return known.get(profile);
}

/** The same list is checked before each request, and checking schemas is slow. */
const judged = new WeakMap<ModelTools, Map<ModelProfile, string | undefined>>();

function checkProfile(profile: ModelProfile, { tools }: ModelTools): string | undefined {
  const { max_tools: most, names } = profile;
  if (most !== undefined && tools.length > most) {
    return `it takes ${most} tools, and the request has ${tools.length}`;
  }
  const form = new RegExp(`^[${names.first_chars}][${names.chars}]{0,${names.max_length - 1}}$`);
  const refused = tools.find(({ name }) => !form.test(name));
  if (refused !== undefined) return `it does not take the tool name ${refused.name}`;
  for (const tool of tools) {
    const violation = schemaViolation(tool, profile);
    if (violation !== undefined) return `it does not take this: ${violation}`;
  }
  return undefined;
}
