// The way of one command into the sandbox: what its tool says of it before it is judged, what the user is shown, and how it is
// started. What was to run inside never runs outside (PERM-8).

import {
  messageOf,
  ToolFailure,
  type CommandTarget,
  type PlannedSandbox,
  type PrepareContext,
  type Resource,
  type TargetsContext,
  type ToolContext,
} from "@soong/core";
import {
  sandboxFailure,
  type ProcessEnd,
  type RefusedHost,
  type RunningProcess,
  type Sandbox,
  type SandboxProfile,
} from "@soong/platform";
import { shownPath } from "../path/index.ts";
import { newlyThere, profileOfCommand, type CommandProfile } from "./profile-of-command.ts";
import { describeViolations, findViolations, nameRefusedHost } from "./sandbox-report.ts";

/** A tool that runs commands, as far as its sandbox is concerned. */
export interface CommandHost {
  readonly sandbox: Sandbox | undefined;
  /** The home that the command sees. */
  readonly home: string | undefined;
  /** Its calls can request to run outside. */
  readonly mayRequestOutside?: boolean;
  /** What of it must be readable, wherever it is. */
  readonly programs: readonly string[];
  /** Proven to only read: nothing is writable for it, and nothing is made in the project for its sandbox. */
  readonly readsOnly?: boolean;
}

/** The command with what its tool knows of its sandbox, as it is judged. */
export function withSandbox(
  command: CommandTarget,
  context: Pick<TargetsContext, "sandboxOf">,
  sandbox: Sandbox | undefined,
): CommandTarget {
  if (sandbox === undefined || context.sandboxOf(command).mode === "off") return command;
  const state = sandbox.state();
  const support = "missing" in state ? { missing: state.missing } : { backend: state.backend };
  return { ...command, sandbox: support };
}

/** For the user who is asked: how it would run. */
export async function planSandbox(
  command: CommandTarget,
  host: CommandHost,
  context: PrepareContext,
): Promise<{ sandbox?: PlannedSandbox }> {
  if (host.sandbox === undefined) return {};
  const { sandbox } = command;
  if (sandbox === undefined)
    return { sandbox: { state: "off", by: context.sandboxOf(command).by } };
  if ("missing" in sandbox) return { sandbox: { state: "missing", why: sandbox.missing } };
  const { limits } = await findProfile(command, context.targets, host, context);
  return { sandbox: { state: "applied", backend: sandbox.backend, ...limits } };
}

export interface EnteredSandbox {
  /** For the start of the process. */
  readonly start: { readonly by: Sandbox; readonly profile: SandboxProfile };
  /** Records what it met there; gives notes for the model. */
  leave(ended: EndedInSandbox): Promise<string[]>;
}

export interface EndedInSandbox {
  readonly end: ProcessEnd;
  readonly running: Pick<RunningProcess, "refusedHosts">;
  /** The latest of what it wrote. */
  readonly output: readonly Buffer[];
  readonly mayWrite: boolean;
}

/** Undefined where the judged command runs without one. */
export async function enterSandbox(
  command: CommandTarget,
  host: CommandHost,
  context: ToolContext,
): Promise<EnteredSandbox | undefined> {
  const { sandbox } = host;
  const { mode } = context.sandboxOf(command);
  const judged = command.sandbox;
  if (judged === undefined) {
    if (mode === "off" || sandbox === undefined) return undefined;
    throw sandboxFailure("when it was judged, it was to run without one");
  }
  if ("missing" in judged) {
    if (mode === "required") throw sandboxFailure(judged.missing);
    context.sandboxApplied({ missing: judged.missing });
    return undefined;
  }
  const state = sandbox?.state();
  if (sandbox === undefined || state === undefined) throw sandboxFailure("its tool has none");
  if ("missing" in state) throw sandboxFailure(`it is no longer there: ${state.missing}`);
  const found = await findProfile(command, context.plan?.resources ?? [], host, context);
  const { profile, limits } = found;
  context.sandboxApplied({ backend: state.backend, ...limits });
  const onRefusedHost = (refused: RefusedHost): void =>
    context.sandboxViolated({ kind: "host", detail: nameRefusedHost(refused), certain: true });
  return {
    start: { by: sandbox, profile: { ...profile, onRefusedHost } },
    leave: (ended) =>
      reportEnd(
        ended,
        { ...found, mayRequestOutside: host.mayRequestOutside === true && mode === "on" },
        context,
      ),
  };
}

async function findProfile(
  command: CommandTarget,
  resources: readonly Resource[],
  { home, programs, readsOnly = false }: CommandHost,
  context: TargetsContext,
): Promise<CommandProfile> {
  const choice = context.sandboxOf(command);
  try {
    const given = { command, resources, choice, home, programs };
    const found = await profileOfCommand(given, context, context.signal);
    return readsOnly ? withoutWriting(found) : found;
  } catch (error) {
    context.signal.throwIfAborted();
    throw error instanceof ToolFailure ? error : sandboxFailure(messageOf(error));
  }
}

function withoutWriting({ profile, limits, noticed }: CommandProfile): CommandProfile {
  const { writable, readable = [] } = profile;
  const closed = { writable: [], fixed: [], absent: [], absentFiles: [] };
  return {
    profile: { ...profile, ...closed, readable: [...readable, ...writable] },
    limits: { ...limits, roots: [] },
    noticed,
  };
}

async function reportEnd(
  { end, running, output, mayWrite }: EndedInSandbox,
  found: CommandProfile & { readonly mayRequestOutside: boolean },
  context: ToolContext,
): Promise<string[]> {
  const { project } = context.roots;
  const created = mayWrite ? await newlyThere(found, context, context.signal) : [];
  const met = {
    failed: end.exit_code === 0 ? undefined : end,
    output: context.redact(output.map((bytes) => bytes.toString("utf8")).join("\n")),
    refusedHosts: running.refusedHosts(),
    created: created.map(({ path, why }) => ({ path: shownPath(project, path), why })),
    masked: found.profile.masked,
    limits: found.limits,
  };
  const violations = findViolations(met);
  for (const violation of violations) {
    // A refused host is on record since it was refused.
    if (violation.kind !== "host") context.sandboxViolated(violation);
  }
  return describeViolations(met, violations, found.mayRequestOutside);
}
