// What a call would touch (DEF-5), found out in two steps: its targets, which hooks and permission judge first, and
// its plan, which may look into them: content, preview, pre-images, and the digest over all of it (PIPE-1, PIPE-9).

import type { GivenUp, Waited } from "../journal/index.ts";
import { readThrown, recordable } from "../result/index.ts";
import {
  canonicalJson,
  digestOf,
  toolError,
  type Plan,
  type PreparedPlan,
  type Resource,
  type Targets,
} from "../tool/index.ts";
import { cancelledEnding, ending, toolOf, withinCall, type Call, type Ending } from "./call.ts";
import { targetsContext } from "./context.ts";
import type { CallHost, RunArtifacts, RunAuthority, RunBase, RunState } from "./host.ts";
import { mayNamePaths, withInputPaths } from "./input-paths.ts";

/** What finding out about a call needs. */
export type PlanHost = RunBase &
  RunAuthority &
  RunArtifacts &
  RunState &
  Pick<CallHost, "isDirectory">;

/** Sets the call's targets; or ends it. */
export async function resolveTargets(host: PlanHost, call: Call): Promise<Ending | undefined> {
  call.targets = undefined;
  call.plan = undefined;
  call.planFailure = undefined;
  const gone = checkProject(host, call);
  if (gone !== undefined) return gone;
  if (!namesTargets(host, call)) return undefined;
  const targets = await readTargets(host, call);
  if (!targets.ok) return targets.ending;
  call.targets = targets.value;
  // Without a planner they are all there is to approve.
  if (targets.value !== undefined && toolOf(call).definition.prepare === undefined) {
    call.plan = withDigest(call, targets.value);
  }
  return undefined;
}

/** Tools that work in the project have nowhere to work once it was removed or moved: none makes it again. */
export function checkProject({ isDirectory, roots }: PlanHost, call: Call): Ending | undefined {
  const { source } = toolOf(call);
  const worksThere = source.kind === "code" || source.kind === "declarative";
  if (!worksThere || roots.project === "" || isDirectory?.(roots.project) !== false)
    return undefined;
  const error = toolError({
    code: "project_missing",
    message: `The project directory ${JSON.stringify(roots.project)} is gone: it was removed or moved during the run. Nothing can be done in it; ask the user.`,
    recovery: "ask_the_user",
  });
  return ending("failed", error);
}

/** Sets the call's plan, or why there is none. */
export async function planCall(host: PlanHost, call: Call): Promise<Ending | undefined> {
  if (toolOf(call).definition.prepare === undefined) return undefined;
  const plan = await readPlan(host, call, call.targets);
  if (plan.ok) call.plan = plan.value;
  else if (call.cancellation !== undefined) return plan.ending;
  else call.planFailure = { ...plan.ending, unplannable: true };
  return undefined;
}

/** The digest the call would have now, or why it has none. */
export async function planAgain(host: PlanHost, call: Call): Promise<Read<string>> {
  const targets = await readTargets(host, call);
  if (!targets.ok) return targets;
  if (toolOf(call).definition.prepare === undefined) {
    return { ok: true, value: withDigest(call, targets.value ?? { resources: [] }).digest };
  }
  const plan = await readPlan(host, call, targets.value);
  return plan.ok ? { ok: true, value: plan.value.digest } : plan;
}

/** What the plan has and the targets had not. */
export function addedResources({ plan, targets }: Call): readonly Resource[] {
  return plan === undefined ? [] : withoutKnown(plan.resources, targets?.resources ?? []);
}

/** Whether the tool, or the paths of its input, say what the call would touch. */
export function namesTargets({ findPath }: PlanHost, call: Call): boolean {
  const tool = toolOf(call);
  return tool.definition.targets !== undefined || (findPath !== undefined && mayNamePaths(tool));
}

type Read<T> = { ok: true; value: T } | { ok: false; ending: Ending };

async function readTargets(host: PlanHost, call: Call): Promise<Read<Targets | undefined>> {
  const { clock, config, findPath } = host;
  const { default_timeout_ms } = config.tools;
  const tool = toolOf(call);
  const { definition } = tool;
  let targets: Targets | undefined;
  if (definition.targets !== undefined) {
    const waited = await withinCall(clock, call, default_timeout_ms, () =>
      definition.targets?.(call.input, targetsContext(host, call)),
    );
    const named = readAnswer(call, waited, "targets");
    if (!named.ok) return named;
    targets = named.value;
  }
  if (findPath === undefined || !mayNamePaths(tool)) return { ok: true, value: targets };
  const waited = await withinCall(clock, call, default_timeout_ms, () =>
    withInputPaths(host, call, targets, findPath),
  );
  const isNone = waited.kind === "answered" && waited.value === undefined;
  return isNone ? { ok: true, value: undefined } : readAnswer(call, waited, "targets");
}

async function readPlan(
  host: PlanHost,
  call: Call,
  targets: Targets | undefined,
): Promise<Read<PreparedPlan>> {
  const { definition } = toolOf(call);
  const named = targets?.resources ?? [];
  const waited = await withinCall(host.clock, call, host.config.tools.default_timeout_ms, () =>
    definition.prepare?.(call.input, Object.assign(targetsContext(host, call), { targets: named })),
  );
  const plan = readAnswer(call, waited, "plan");
  if (!plan.ok) return plan;
  // What was judged stays judged, whether the plan repeats it or not.
  const resources = [...named, ...withoutKnown(plan.value.resources, named)];
  const destructive = plan.value.destructive ?? targets?.destructive;
  const facts = plan.value.facts ?? targets?.facts;
  const whole = {
    ...plan.value,
    resources,
    ...(destructive === undefined ? {} : { destructive }),
    ...(facts === undefined ? {} : { facts }),
  };
  return { ok: true, value: withDigest(call, whole) };
}

function withDigest(call: Call, plan: Plan): PreparedPlan {
  const tool = toolOf(call);
  const digest = digestOf({
    tool_name: tool.name,
    definition: tool.digest(),
    input: recordable(call.input),
    plan,
  });
  return { ...plan, digest };
}

function withoutKnown(
  resources: readonly Resource[],
  known: readonly Resource[],
): readonly Resource[] {
  if (known.length === 0 || resources.length === 0) return resources;
  const texts = new Set(known.map(canonicalJson));
  return resources.filter((resource) => !texts.has(canonicalJson(resource)));
}

function readAnswer(
  call: Call,
  waited: Waited<unknown> | GivenUp,
  what: "targets" | "plan",
): Read<Plan> {
  if (waited.kind === "given_up") return { ok: false, ending: cancelledEnding(call) };
  if (waited.kind === "threw") {
    const outcome = readThrown(waited.error);
    return { ok: false, ending: { status: "failed", outcome, executed: false } };
  }
  if (waited.kind === "timed_out") {
    const verb = what === "plan" ? "plan its call" : "name its targets";
    return failed(call, `did not ${verb} within ${waited.ms} ms`);
  }
  const plan = copyPlan(waited.value);
  if (typeof plan !== "string") return { ok: true, value: plan };
  return failed(
    call,
    `${what === "plan" ? "planned its call" : "named its targets"} badly: ${plan}`,
  );
}

function failed(call: Call, what: string): Read<never> {
  const error = toolError({ code: "prepare_failed", message: `${call.tool_name} ${what}.` });
  return { ok: false, ending: ending("failed", error) };
}

/** A copy of the plan as data, or what is wrong with it. */
function copyPlan(given: unknown): Plan | string {
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
  const { env_summary } = plan;
  const isNames =
    Array.isArray(env_summary) && env_summary.every((name) => typeof name === "string");
  if (env_summary !== undefined && !isNames) return "env_summary is not a list of names";
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
