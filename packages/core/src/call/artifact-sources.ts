// What an artifact came from (PERM-15): the targets of the call that wrote it, as they are on record. They are judged again
// where something restricts paths now that did not when the call ran: a rule that was added since, or a child's own.

import type { ArtifactRecord, Fact, Journal } from "../journal/index.ts";
import { describePolicy, type Policy } from "../permission/index.ts";
import { type Resource } from "../tool/index.ts";
import { canonicalJson, type JsonObject, type JsonValue } from "@soong/schema";

/** Empty: nothing is known of it, or all that restricts now was heeded then. */
export type SourcesOfArtifact = (
  record: Pick<ArtifactRecord, "run_id" | "tool_call_id">,
  policy: Policy,
  isGuarded: boolean,
) => Promise<readonly Resource[]>;

/** Reads the journal when it is first asked, and from then on what is new in it. */
export function createArtifactSources(journal: Pick<Journal, "read">): SourcesOfArtifact {
  const restricting = new Map<string, ReadonlySet<string>>();
  const resources = new Map<string, Resource[]>();
  let seq = 0;

  const take = ({ type, run_id = "", tool_call_id = "", data }: Fact): void => {
    if (type === "run.started") {
      restricting.set(run_id, new Set(restrictionsIn(data.policy)));
    } else if (type === "permission.evaluated") {
      const key = callKey(run_id, tool_call_id);
      const known = resources.get(key) ?? [];
      resources.set(key, [...known, ...data.resources]);
    }
  };

  return async ({ run_id, tool_call_id }, policy, isGuarded) => {
    if (tool_call_id === undefined) return [];
    for (;;) {
      const facts = await journal.read(seq, PAGE);
      for (const fact of facts) take(fact);
      seq = facts.at(-1)?.seq ?? seq;
      if (facts.length < PAGE) break;
    }
    const then = restricting.get(run_id);
    const isHeeded = restrictionsIn(describePolicy(policy)).every((one) => then?.has(one) === true);
    return isHeeded && !isGuarded ? [] : (resources.get(callKey(run_id, tool_call_id)) ?? []);
  };
}

const PAGE = 500;

function callKey(run_id: string, tool_call_id: string): string {
  return `${run_id}\0${tool_call_id}`;
}

/** What restricts paths under a policy as it is on record, and under its ceilings. */
function restrictionsIn(policy: JsonValue | undefined): string[] {
  if (typeof policy !== "object" || policy === null || Array.isArray(policy)) return [];
  const { rules, roots, sensitive_paths, protected_roots, ceiling } = policy;
  const project = (roots as JsonObject | null)?.["project"] ?? null;
  const named = asList(rules).flatMap((rule) => {
    const { origin: _origin, reason: _reason, ...about } = rule as JsonObject;
    return about["path"] === undefined || about["decision"] === "allow" ? [] : [about];
  });
  const all = [...named, ...asList(sensitive_paths), ...asList(protected_roots)];
  return [...all.map((one) => canonicalJson([project, one])), ...restrictionsIn(ceiling)];
}

function asList(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
