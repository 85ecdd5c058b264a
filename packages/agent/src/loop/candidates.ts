// Why a model of the chain cannot take a request (MODEL-4): a run's tools have one list and one set of names, made for
// its first model, and another must be able to read them.

import type { ModelTools } from "@soong/core";
import type { Model } from "../model/index.ts";

/** Undefined when it can. */
export function exclusionOf({ profile }: Model, { tools }: ModelTools): string | undefined {
  const { max_tools: most, names } = profile;
  if (most !== undefined && tools.length > most) {
    return `it takes ${most} tools, and the request has ${tools.length}`;
  }
  const form = new RegExp(`^[${names.first_chars}][${names.chars}]{0,${names.max_length - 1}}$`);
  const refused = tools.find(({ name }) => !form.test(name));
  return refused === undefined ? undefined : `it does not take the tool name ${refused.name}`;
}
