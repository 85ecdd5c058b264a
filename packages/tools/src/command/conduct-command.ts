// Runs a planned command: exactly the executable that was judged, its output captured, its progress told,
// and nothing of it left behind when the call is cut short.

import { relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ToolFailure, type Clock, type HandlerResult, type ToolContext } from "@soong/core";
import type { FilesRead } from "../file/index.ts";
import { resolvePath } from "../path/index.ts";
import { findExecutable, startProcess } from "@soong/platform";
import { captureOutput } from "./captured-output.ts";
import { describeEnd, partialText } from "./describe-end.ts";
import { isWithin } from "./places-of-command.ts";
import {
  stampText,
  type CommandFacts,
  type CommandInput,
  type Environment,
} from "./plan-command.ts";
import { proveReadOnly } from "./prove-read-only.ts";
import { reportProgress } from "./report-progress.ts";
import { scriptsOfCommand } from "./scripts-of-command.ts";

export interface CommandPorts {
  readonly env: Environment;
  readonly clock: Clock;
  readonly filesRead: FilesRead | undefined;
}

export async function conductCommand(
  { description }: CommandInput,
  context: ToolContext,
  ports: CommandPorts,
): Promise<HandlerResult> {
  const command = await stillAsPlanned(context, ports.env);
  context.signal.throwIfAborted();
  const stdout = captureOutput("stdout", context);
  const stderr = captureOutput("stderr", context);
  const { inlineLimitBytes, redact, onCancel, signal, output } = context;
  const about = { argv: command.argv, cwd: command.cwd, stdout, stderr, inlineLimitBytes, redact };

  const running = startProcess({
    ...command,
    onStdout: (chunk) => stdout.push(chunk),
    onStderr: (chunk) => stderr.push(chunk),
  });
  const stopProgress = reportProgress(ports.clock, description, [stdout, stderr], context);
  // The signal comes first: afterwards nothing a handler says is heard.
  const keepPartial = (): void => {
    if (stdout.bytes + stderr.bytes > 0) output(partialText(about));
  };
  signal.addEventListener("abort", keepPartial);
  const finished = (async () => {
    try {
      const end = await running.end;
      const changedFiles = await changedFilesOf(context, ports.filesRead);
      return await describeEnd({ ...about, end, changedFiles });
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

interface PlannedCommand {
  readonly executable: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
}

/** What was judged is what runs, or nothing does (PERM-8): the names of the plan still mean the same. */
async function stillAsPlanned(context: ToolContext, env: Environment): Promise<PlannedCommand> {
  const { plan } = context;
  const resource = plan?.resources.find(({ kind }) => kind === "command");
  if (plan === undefined || resource?.kind !== "command") {
    throw new TypeError("A command without a plan cannot be run.");
  }
  const { argv, cwd } = resource;
  const facts = plan.facts as CommandFacts;
  if ((await resolvePath("/", cwd)) !== cwd) throw changed(`${JSON.stringify(cwd)} is a link now`);
  const executable = findExecutable(argv[0] ?? "", { path: env["PATH"] ?? "", cwd });
  if (executable?.found !== facts.found || executable.resolved !== resource.executable) {
    throw changed(`${JSON.stringify(argv[0])} is another program now`);
  }
  if ((await stampText(executable)) !== facts.stamp) {
    throw changed(`${JSON.stringify(facts.found)} has been written to`);
  }
  for (const { path, sha256 } of await scriptsOfCommand(argv, cwd)) {
    const judged = plan.pre_images?.find((image) => image.path === path);
    if (judged?.sha256 !== sha256) throw changed(`${JSON.stringify(path)} has been written to`);
  }
  const places = { roots: context.roots, sensitiveBy: context.sensitiveBy };
  if (!facts.read_only) return { executable: facts.found, argv, cwd, env };
  const proof = proveReadOnly({ argv, cwd, env, places });
  const isAsJudged =
    proof.read_only &&
    proof.executable === resource.executable &&
    isDeepStrictEqual(proof.env, facts.env ?? {});
  if (!isAsJudged) throw changed("it is no longer sure to only read");
  // By the path that was looked at: no link is followed once more (CMD-7).
  return { executable: resource.executable, argv, cwd, env: { ...env, ...facts.env } };
}

export function changed(what: string): ToolFailure {
  return new ToolFailure({
    code: "changed_since_approval",
    message: `The command was not run: since it was judged, ${what}. Look again, then call again.`,
    recovery: "retry",
    retryable: true,
  });
}

async function changedFilesOf(
  { roots, runId }: ToolContext,
  filesRead: FilesRead | undefined,
): Promise<string[]> {
  const paths = (await filesRead?.changed(runId)) ?? [];
  return paths.map((path) =>
    isWithin(roots.project, path) ? relative(roots.project, path) : path,
  );
}
