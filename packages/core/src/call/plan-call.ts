// What a call would touch (DEF-5), found out in two steps: its targets, which hooks and permission judge first, and
// its plan, which may look into them: content, preview, pre-images, and the digest over all of it (PIPE-1, PIPE-9).

import { canonicalJson, asRecord, omitUndefined } from "@soong/schema";
import type { GivenUp, Waited } from "../journal/index.ts";
import { readThrown, recordable } from "../result/read-return.ts";
import {
  digestOf,
  type Plan,
  type PreparedPlan,
  type Resource,
  type Targets,
} from "../tool/index.ts";
import { withinCall, type AcceptedCall, type Call, type Ending } from "./call.ts";
import { PlannerContext } from "./context.ts";
import { endCall, endCancelled } from "./endings.ts";
import { mayNamePaths, withInputPaths } from "./input-paths.ts";

/** Sets the call's targets; or ends it. */
export async function resolveTargets(call: AcceptedCall): Promise<Ending | undefined> {
  call.targets = undefined;
  call.plan = undefined;
  call.planFailure = undefined;
  const gone = checkProject(call);
  if (gone !== undefined) return gone;
  if (!namesTargets(call)) return undefined;
  const targets = await readTargets(call);
  if (!targets.ok) return targets.ending;
  call.targets = targets.value;
  // Without a planner they are all there is to approve.
  if (targets.value !== undefined && call.tool.definition.prepare === undefined) {
    call.plan = withDigest(call, targets.value);
  }
  return undefined;
}

/** Tools that work in the project have nowhere to work once it was removed or moved: none makes it again. */
export function checkProject({ tool, run }: AcceptedCall): Ending | undefined {
  const { kind } = tool.source;
  const { project } = run.roots;
  if ((kind !== "code" && kind !== "declarative") || project === "") return undefined;
  if (run.isDirectory?.(project) !== false) return undefined;
  const message = `The project directory ${JSON.stringify(project)} is gone: it was removed or moved during the run. Nothing can be done in it; ask the user.`;
  return endCall("failed", "project_missing", message);
}

/** Sets the call's plan, or why there is none. */
export async function planCall(call: AcceptedCall): Promise<Ending | undefined> {
  if (call.tool.definition.prepare === undefined) return undefined;
  const plan = await readPlan(call, call.targets);
  if (plan.ok) call.plan = plan.value;
  else if (call.cancellation !== undefined) return plan.ending;
  else call.planFailure = { ...plan.ending, unplannable: true };
  return undefined;
}

/** The plan the call would have now, or why it has none. */
export async function planAgain(call: AcceptedCall): Promise<Read<PreparedPlan>> {
  const targets = await readTargets(call);
  if (!targets.ok) return targets;
  if (call.tool.definition.prepare !== undefined) return readPlan(call, targets.value);
  return { ok: true, value: withDigest(call, targets.value ?? { resources: [] }) };
}

/** What the plan has and the targets had not. */
export function addedResources({ plan, targets }: Call): readonly Resource[] {
  return plan === undefined ? [] : withoutKnown(plan.resources, targets?.resources ?? []);
}

/** Whether the tool, or the paths of its input, say what the call would touch. */
export function namesTargets({ run, tool }: AcceptedCall): boolean {
  return (
    tool.definition.targets !== undefined || (run.findPath !== undefined && mayNamePaths(tool))
  );
}

type Read<T> = { ok: true; value: T } | { ok: false; ending: Ending };

async function readTargets(call: AcceptedCall): Promise<Read<Targets | undefined>> {
  const { definition } = call.tool;
  const { findPath } = call.run;
  let targets: Targets | undefined;
  if (definition.targets !== undefined) {
    const named = readAnswer(
      call,
      await withinCall(call, () => definition.targets?.(call.input, new PlannerContext(call))),
      "targets",
    );
    if (!named.ok) return named;
    targets = named.value;
  }
  if (findPath === undefined || !mayNamePaths(call.tool)) return { ok: true, value: targets };
  const waited = await withinCall(call, () => withInputPaths(call, targets, findPath));
  const isNone = waited.kind === "answered" && waited.value === undefined;
  return isNone ? { ok: true, value: undefined } : readAnswer(call, waited, "targets");
}

async function readPlan(
  call: AcceptedCall,
  targets: Targets | undefined,
): Promise<Read<PreparedPlan>> {
  const named = targets?.resources ?? [];
  const waited = await withinCall(call, () => {
    const context = Object.assign(new PlannerContext(call), { targets: named });
    return call.tool.definition.prepare?.(call.input, context);
  });
  const plan = readAnswer(call, waited, "plan");
  if (!plan.ok) return plan;
  // What was judged stays judged, whether the plan repeats it or not.
  const resources = [...named, ...withoutKnown(plan.value.resources, named)];
  const destructive = plan.value.destructive ?? targets?.destructive;
  const facts = plan.value.facts ?? targets?.facts;
  const whole = { ...plan.value, resources, ...omitUndefined({ destructive, facts }) };
  return { ok: true, value: withDigest(call, whole) };
}

function withDigest({ tool, input }: AcceptedCall, plan: Plan): PreparedPlan {
  const { name: tool_name } = tool;
  const { sandbox: _shown, ...judged } = plan;
  const about = { tool_name, definition: tool.digest(), input: recordable(input), plan: judged };
  return { ...plan, digest: digestOf(about) };
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
  const fail = (text: string): Read<never> => {
    const message = `${call.tool_name} ${text}.`;
    return { ok: false, ending: endCall("failed", "prepare_failed", message) };
  };
  if (waited.kind === "given_up") return { ok: false, ending: endCancelled(call) };
  if (waited.kind === "threw") {
    const outcome = readThrown(waited.error);
    return { ok: false, ending: { status: "failed", outcome, executed: false } };
  }
  if (waited.kind === "timed_out") {
    const verb = what === "plan" ? "plan its call" : "name its targets";
    return fail(`did not ${verb} within ${waited.ms} ms`);
  }
  const plan = copyPlan(waited.value);
  if (typeof plan !== "string") return { ok: true, value: plan };
  return fail(`${what === "plan" ? "planned its call" : "named its targets"} badly: ${plan}`);
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
  const { env_summary = [] } = plan;
  const isNames = Array.isArray(env_summary) && env_summary.every(isText);
  if (!isNames) return "env_summary is not a list of names";
  if (!isPreview(plan.preview)) return "preview is not a text, diff or command";
  return isSandbox(plan.sandbox) ? plan : "sandbox is not that of a command";
}

function isResource(resource: unknown): resource is Resource {
  const { kind, path, access, executable, cwd, argv, host } = asRecord(resource);
  if (kind === "path") return isText(path) && ACCESSES.includes(access);
  if (kind === "host") return isText(host);
  const isArgv = Array.isArray(argv) && argv.length > 0 && argv.every(isText);
  return kind === "command" && isText(executable) && isText(cwd) && isArgv;
}

const ACCESSES: readonly unknown[] = ["read", "list", "search", "write"];

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isSandbox(sandbox: unknown): boolean {
  if (sandbox === undefined) return true;
  const { state, roots, masked, by, why } = asRecord(sandbox);
  if (state === "applied")
    return [roots, masked].every((list) => Array.isArray(list) && list.every(isText));
  return (state === "off" && isText(by)) || (state === "missing" && isText(why));
}

function isPreview(preview: unknown): boolean {
  if (preview === undefined) return true;
  const { kind, text, diff, path, argv } = asRecord(preview);
  if (kind === "text") return isText(text);
  if (kind === "diff") return isText(diff) && isText(path);
  return kind === "command" && Array.isArray(argv);
}
