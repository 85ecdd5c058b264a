// Runs a planned command: exactly the executable that was judged, its output captured, its progress reported,
// and nothing of it left behind when the call is cut short.

import { isDeepStrictEqual } from "node:util";
import { omitUndefined } from "@soong/schema";
import { ToolFailure, type Clock, type HandlerResult, type ToolContext } from "@soong/core";
import type { FilesRead } from "../file/files-read.ts";
import { resolvePath, shownPath } from "../path/index.ts";
import { findExecutable, type Sandbox, type startProcess } from "@soong/platform";
import { enterSandbox, type EnteredSandbox } from "../sandbox/index.ts";
import { captureOutput } from "./captured-output.ts";
import {
  type CommandFacts,
  type Environment,
  findRestrictedPaths,
  stampText,
} from "./plan-command.ts";
import type { CommandInput } from "./command-input.ts";
import { describeEnd, partialText } from "./describe-end.ts";
import { noteNames, type NotedNames } from "./note-names.ts";
import { proveReadOnly } from "./prove-read-only.ts";
import { reportProgress } from "./report-progress.ts";
import { scriptsOfCommand } from "./scripts-of-command.ts";

export interface CommandPorts {
  readonly env: Environment;
  readonly clock: Clock;
  readonly filesRead: FilesRead | undefined;
  readonly startProcess: typeof startProcess;
  readonly sandbox: Sandbox | undefined;
}

/** Of a proven command, while what its arguments name changes: repeating it costs nothing but time. */
const MOST_ATTEMPTS = 3;

export async function conductCommand(
  input: CommandInput,
  context: ToolContext,
  ports: CommandPorts,
): Promise<HandlerResult> {
  const planned = readPlan(context);
  const { cwd, facts } = planned;
  const programs = [facts.found, planned.executable];
  const { sandbox, env } = ports;
  const readsOnly = facts.read_only;
  const host = { sandbox, home: env["HOME"], programs, readsOnly, mayRequestOutside: true };
  let way: { readonly inside: EnteredSandbox | undefined } | undefined;
  for (let left = MOST_ATTEMPTS; left > 0; left -= 1) {
    // Before they are judged once more: from here to the end of the command they mean the same, or nothing is shown.
    const names = facts.read_only
      ? await noteNames(cwd, facts.names ?? [], context.roots)
      : UNPROVEN;
    if (names === undefined) continue;
    const command = await stillAsPlanned(input, planned, context, ports.env);
    way ??= { inside: await enterSandbox(planned.resource, host, context) };
    context.signal.throwIfAborted();
    try {
      const result = await runOnce(command, { names, ...way }, input, context, ports);
      if (result !== undefined) return result;
    } catch (error) {
      // What it was to mask may be gone by now, such as a temporary file in the home. Nothing ran.
      if (left < MOST_ATTEMPTS || !isSetUpFailure(error)) throw error;
      way = undefined;
    }
    context.signal.throwIfAborted();
  }
  throw changedWhileReading();
}

function isSetUpFailure(error: unknown): boolean {
  return error instanceof ToolFailure && error.error.code === "sandbox_failed";
}

/** A command that may change files is judged by more than its names, and never repeated. */
const UNPROVEN: NotedNames = { unchanged: () => true };

/** Undefined where its output may come from files that were not judged: all of it is discarded. */
async function runOnce(
  command: CommandToRun,
  { names, inside }: { names: NotedNames; inside: EnteredSandbox | undefined },
  { description }: CommandInput,
  context: ToolContext,
  ports: CommandPorts,
): Promise<HandlerResult | undefined> {
  const stdout = captureOutput("stdout", context);
  const stderr = captureOutput("stderr", context);
  const { inlineLimitBytes, redact, onCancel, signal, output } = context;
  const about = { argv: command.argv, cwd: command.cwd, stdout, stderr, inlineLimitBytes, redact };

  const running = ports.startProcess({
    ...command,
    ...omitUndefined({ sandbox: inside?.start }),
    onStdout: (chunk) => stdout.push(chunk),
    onStderr: (chunk) => stderr.push(chunk),
  });
  const stopProgress = reportProgress(ports.clock, description, [stdout, stderr], context, {
    mayShow: names.unchanged,
  });
  // The signal comes first: afterwards nothing a handler reports is used.
  const keepPartial = (): void => {
    if (stdout.bytes + stderr.bytes > 0 && names.unchanged()) output(partialText(about));
  };
  signal.addEventListener("abort", keepPartial);
  const finished = (async () => {
    try {
      const end = await running.end;
      if (!names.unchanged()) {
        await Promise.all([stdout.discard(), stderr.discard()]);
        return undefined;
      }
      const changedFiles = await listChangedFiles(context, ports.filesRead);
      const output = [stdout.recent, stderr.recent];
      const mayWrite = names === UNPROVEN;
      const sandboxNotes = await inside?.leave({ end, running, output, mayWrite });
      return await describeEnd({ ...about, end, changedFiles, sandboxNotes });
    } finally {
      stopProgress();
      signal.removeEventListener("abort", keepPartial);
    }
  })();
  onCancel(async () => {
    await running.stop("abort");
    await finished;
  });
  return finished;
}

type PlannedCommand = ReturnType<typeof readPlan>;
type CommandToRun = Awaited<ReturnType<typeof stillAsPlanned>>;

function readPlan({ plan }: ToolContext) {
  const resource = plan?.resources.find(({ kind }) => kind === "command");
  if (plan === undefined || resource?.kind !== "command") {
    throw new TypeError("A command without a plan cannot be run.");
  }
  const { argv, cwd, executable } = resource;
  return { plan, resource, executable, argv, cwd, facts: plan.facts as CommandFacts };
}

/** What was judged is what runs, or nothing does (PERM-8): the names of the plan still mean the same. */
async function stillAsPlanned(
  input: CommandInput,
  planned: PlannedCommand,
  context: ToolContext,
  env: Environment,
) {
  const { plan, argv, cwd, facts } = planned;
  if ((await resolvePath("/", cwd)) !== cwd) throw changed(`${JSON.stringify(cwd)} is a link now`);
  const executable = findExecutable(argv[0] ?? "", { path: env["PATH"] ?? "", cwd });
  if (executable?.found !== facts.found || executable.resolved !== planned.executable) {
    throw changed(`${JSON.stringify(argv[0])} is another program now`);
  }
  if ((await stampText(executable)) !== facts.stamp) {
    throw changed(`${JSON.stringify(facts.found)} has been written to`);
  }
  for (const { path, sha256 } of await scriptsOfCommand({
    argv,
    cwd,
    executable: planned.executable,
  })) {
    const judged = plan.pre_images?.find((image) => image.path === path);
    if (judged?.sha256 !== sha256) throw changed(`${JSON.stringify(path)} has been written to`);
  }
  if (!facts.read_only) return { executable: facts.found, argv, cwd, env };
  const proof = proveReadOnly({ argv, cwd, env, places: context });
  const isAsJudged =
    proof.read_only &&
    proof.executable === planned.executable &&
    isDeepStrictEqual(proof.env, facts.env ?? {}) &&
    isDeepStrictEqual(proof.names, facts.names ?? []);
  if (!isAsJudged) throw changed("it is no longer sure to only read");
  for (const { path } of findRestrictedPaths(input, cwd, context, env).named) {
    const isJudged = plan.resources.some(
      (judged) => judged.kind === "path" && judged.path === path,
    );
    if (!isJudged) throw changed("an argument leads to a restricted path");
  }
  // By the path that was looked at: no link is followed once more (CMD-7).
  return { executable: planned.executable, argv, cwd, env: { ...env, ...facts.env } };
}

export function changed(what: string): ToolFailure {
  return new ToolFailure({
    code: "changed_since_approval",
    message: `The command was not run: since it was judged, ${what}. Look again, then call again.`,
    recovery: "retry",
    retryable: true,
  });
}

function changedWhileReading(): ToolFailure {
  return new ToolFailure({
    code: "changed_while_reading",
    message:
      "The output of the command is withheld: while it ran, files or directories that its arguments name were " +
      "replaced or moved, so it may have read other files than those that were judged. Call again.",
    recovery: "retry",
    retryable: true,
  });
}

async function listChangedFiles(
  { roots, runId }: ToolContext,
  filesRead: FilesRead | undefined,
): Promise<string[]> {
  const paths = (await filesRead?.changed(runId)) ?? [];
  return paths.map((path) => shownPath(roots.project, path));
}
