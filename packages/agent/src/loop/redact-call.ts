// A call as it is recorded in its answer: without secrets, and without what its tool's schema calls sensitive
// (REDACT-1, REDACT-2). The tool itself is given what the model sent.

import type { JsonValue, ModelTools, Run } from "@soong/core";
import { parseArguments } from "@soong/schema";
import type { ModelCall } from "../model/index.ts";

const UNREADABLE = '"[redacted: arguments that are not valid JSON]"';

export function redactCall(run: Run, { names }: ModelTools, call: ModelCall): ModelCall {
  const { name } = call;
  const standing = run.surface.standing.get(canonicalName(run, names, name));
  const sensitive = standing?.tool?.input.sensitive ?? [];
  const redactedName = run.redactor.text(name);
  const sent = run.redactor.text(call.arguments);
  if (sensitive.length === 0) return { ...call, name: redactedName, arguments: sent };
  const parsed = parseArguments(call.arguments);
  if (!parsed.ok) return { ...call, name: redactedName, arguments: UNREADABLE };
  const given = parsed.value as JsonValue;
  const redacted = run.redactor.value(given, { sensitive });
  const text = redacted === given ? sent : JSON.stringify(redacted);
  return { ...call, name: redactedName, arguments: text };
}

/** Of a name as the model has it; a name that is not known stays as it is. */
export function canonicalName(run: Run, names: ModelTools["names"], name: string): string {
  return names.toCanonical(name) ?? run.surface.aliases.get(name) ?? name;
}
