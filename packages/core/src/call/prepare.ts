// Planning a call (DEF-5): what it will touch, what a person is shown, and the digest over all of it.

import { isThenable, type GivenUp, type Waited } from "../journal/index.ts";
import { readThrown, recordable } from "../result/index.ts";
import { digestOf, toolError, type Plan, type PreparedPlan, type Resource } from "../tool/index.ts";
import { cancelledEnding, ending, toolOf, withinCall, type Call, type Ending } from "./call.ts";
import { prepareContext } from "./context.ts";
import type { CallHost } from "./host.ts";

/** Sets the call's plan; or ends it. A tool without prepare has no plan and pays nothing for it. */
export function prepareCall(
  host: CallHost,
  call: Call,
): Ending | undefined | Promise<Ending | undefined> {
  const planned = planCall(host, call);
  const take = (plan: Planned): Ending | undefined => {
    if (!plan.ok) return plan.ending;
    call.plan = plan.plan;
    return undefined;
  };
  return isThenable(planned) ? planned.then(take) : take(planned);
}

export type Planned = { ok: true; plan: PreparedPlan | undefined } | { ok: false; ending: Ending };

export function planCall(host: CallHost, call: Call): Planned | Promise<Planned> {
  const { definition } = toolOf(call);
  if (definition.prepare === undefined) return { ok: true, plan: undefined };
  const waited = withinCall(host.clock, call, host.config.tools.default_timeout_ms, () =>
    definition.prepare?.(call.input, prepareContext(host, call)),
  );
  const take = (answer: Waited<unknown> | GivenUp): Planned => readPlanned(call, answer);
  return isThenable(waited) ? waited.then(take) : take(waited);
}

function readPlanned(call: Call, waited: Waited<unknown> | GivenUp): Planned {
  if (waited.kind === "given_up") return { ok: false, ending: cancelledEnding(call) };
  if (waited.kind === "threw") {
    const outcome = readThrown(waited.error);
    return { ok: false, ending: { status: "failed", outcome, executed: false } };
  }
  if (waited.kind === "timed_out") {
    return failed(call, `did not plan its call within ${waited.ms} ms`);
  }
  const plan = readPlan(waited.value);
  if (typeof plan === "string") return failed(call, `planned its call badly: ${plan}`);
  const tool = toolOf(call);
  const digest = digestOf({
    tool_name: tool.name,
    definition: tool.digest(),
    input: recordable(call.input),
    plan,
  });
  return { ok: true, plan: { ...plan, digest } };
}

function failed(call: Call, what: string): Planned {
  const error = toolError({ code: "prepare_failed", message: `${call.tool_name} ${what}.` });
  return { ok: false, ending: ending("failed", error) };
}

/** A copy of the plan as data, or what is wrong with it. */
function readPlan(given: unknown): Plan | string {
  if (typeof given !== "object" || given === null) return "it is not an object";
  let plan: Plan;
  try {
    plan = JSON.parse(JSON.stringify(given)) as Plan;
  } catch {
    return "it is not JSON";
  }
  if (!Array.isArray(plan.resources)) return "resources is not a list";
  const bad = plan.resources.findIndex((resource) => !isResource(resource));
  if (bad !== -1) return `resources[${bad}] is not a path, command or host`;
  return isPreview(plan.preview) ? plan : "preview is not a text, diff or command";
}

function isResource(resource: unknown): resource is Resource {
  const given = (resource ?? {}) as Record<string, unknown>;
  const isText = (value: unknown): boolean => typeof value === "string";
  switch (given["kind"]) {
    case "path":
      return (
        isText(given["path"]) &&
        ["read", "list", "search", "write"].includes(given["access"] as string)
      );
    case "command":
      return (
        isText(given["executable"]) &&
        isText(given["cwd"]) &&
        Array.isArray(given["argv"]) &&
        given["argv"].length > 0 &&
        given["argv"].every(isText)
      );
    case "host":
      return isText(given["host"]);
    default:
      return false;
  }
}

function isPreview(preview: unknown): boolean {
  if (preview === undefined) return true;
  const { kind, text, diff, path, argv } = (preview ?? {}) as Record<string, unknown>;
  if (kind === "text") return typeof text === "string";
  if (kind === "diff") return typeof diff === "string" && typeof path === "string";
  return kind === "command" && Array.isArray(argv);
}
