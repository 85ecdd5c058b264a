// What the session and the run say together, under the ceiling of the parent (PERM-12). Compiled once for all runs of a
// kernel that say the same.

import { isPlainRecord, omitUndefined } from "@soong/schema";
import {
  compilePolicy,
  readLinks,
  mergePolicies,
  type Mode,
  type Policy,
  type PolicyInput,
} from "./permission/index.ts";
import type { Roots } from "./tool/index.ts";

export interface PolicyRequest {
  readonly session: PolicyInput;
  readonly run: PolicyInput | undefined;
  readonly mode: Mode;
  readonly roots: Roots;
  /** The parent's. */
  readonly ceiling: Policy | undefined;
  readonly resolvePath: ((path: string) => string | undefined) | undefined;
}

export class RunPolicies {
  /** By ceiling, by the text of the rest. */
  readonly #compiled = new WeakMap<object, Map<string, Policy>>();

  /** Throws where it cannot be compiled. */
  find(request: PolicyRequest): Policy {
    const { session, run, mode, roots, ceiling, resolvePath } = request;
    const links = resolvePath && readLinks(mergeRequest(request), resolvePath);
    const said = [session, run, mode, roots, links];
    if (!isData(said)) return compile(request, links);
    const group = ceiling ?? this;
    const text = JSON.stringify(said);
    const known = this.#compiled.get(group)?.get(text);
    if (known !== undefined) return known;
    const policy = compile(request, links);
    const policies = this.#compiled.get(group) ?? new Map<string, Policy>();
    if (policies.size >= MAX_KNOWN) policies.clear();
    this.#compiled.set(group, policies.set(text, policy));
    return policy;
  }
}

const MAX_KNOWN = 50;

/** Whether its JSON text says all of it: anything else is checked, and refused, each time. */
function isData(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return !CODE.has(typeof value);
  return (Array.isArray(value) || isPlainRecord(value)) && Object.values(value).every(isData);
}

const CODE: ReadonlySet<string> = new Set(["function", "symbol", "bigint"]);

function mergeRequest({ session, run = {}, mode, roots }: PolicyRequest): PolicyInput {
  const input = { ...mergePolicies(session, run), mode };
  return roots.project === "" ? input : { ...input, roots };
}

function compile(request: PolicyRequest, links: PolicyInput["links"]): Policy {
  const { ceiling } = request;
  const compiled = compilePolicy({
    ...mergeRequest(request),
    ...omitUndefined({ links, ceiling }),
  });
  if (compiled.ok) return compiled.policy;
  const lines = compiled.problems.map(({ field, message }) => `permissions: ${field} ${message}`);
  throw new Error(lines.join("\n"));
}
