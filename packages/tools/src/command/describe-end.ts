// The result of a command that has ended (CMD-2): both streams for the model, the numbers for programs,
// and an error where it failed, which still shows everything it wrote.

import { toolResult, type ArtifactRef, type ContentBlock, type HandlerResult } from "@soong/core";
import type { ProcessEnd } from "@soong/platform";
import type { CapturedOutput, KeptOutput } from "./captured-output.ts";
import { showOutput, wholeLength, type ShownOutput } from "./shown-output.ts";

export interface EndedCommand {
  readonly end: ProcessEnd;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  /** Files the run has read that are different now, as names for the model. */
  readonly changedFiles: readonly string[];
  readonly inlineLimitBytes: number;
  readonly redact: (text: string) => string;
}

export async function describeEnd(command: EndedCommand): Promise<HandlerResult> {
  const { end, stdout, stderr, changedFiles } = command;
  const shown = showBoth(command);
  const kept = {
    stdout: await stdout.keep(shown.stdout.truncated),
    stderr: await stderr.keep(shown.stderr.truncated),
  };
  const notes = [
    ...[lossOf("stdout", kept.stdout), lossOf("stderr", kept.stderr)].flat(),
    ...leftBehind(end),
    ...changeNote(changedFiles),
  ];
  const failure = failureOf(end);
  const artifacts = [kept.stdout, kept.stderr].flatMap(refOf);
  const text = layOut(shown, notes);
  return toolResult({
    ok: failure === undefined,
    content: [{ type: "text", text }, ...artifacts.map(blockOf)],
    summary: summaryOf(command, failure),
    data: {
      exit_code: end.exit_code,
      signal: end.signal,
      stdout: streamData(stdout, shown.stdout, kept.stdout),
      stderr: streamData(stderr, shown.stderr, kept.stderr),
      cwd: command.cwd,
      duration_ms: Math.round(end.duration_ms),
      contained_by: CONTAINED_BY,
      ...(end.leftovers === 0 ? {} : { leftovers: end.leftovers }),
      ...(end.survivors === 0 ? {} : { survivors: end.survivors }),
      ...(changedFiles.length === 0 ? {} : { changed_files: changedFiles.slice(0, MOST_NAMED) }),
    },
    artifacts,
    ...(failure === undefined
      ? {}
      : {
          error: {
            code: "command_failed",
            message: `The command ${failure}.`,
            details: { exit_code: end.exit_code, signal: end.signal },
          },
        }),
  });
}

/** What there is of both streams when the command is cut short: the result has nothing but this text. */
export function partialText(command: Omit<EndedCommand, "end" | "changedFiles">): string {
  return layOut(showBoth(command), []);
}

/** For notes, the numbers and the lines between. */
const RESERVED_BYTES = 4 * 1024;
const MOST_NAMED = 50;
/**
 * What ended with the command: its group, its session, their children and carriers of its marker. Who left all of these
 * cannot be found; only a sandbox holds them.
 */
const CONTAINED_BY = "process_family";

/** Each stream may have half of the room, and what the other does not need. */
function showBoth({
  stdout,
  stderr,
  inlineLimitBytes,
  redact,
}: Pick<EndedCommand, "stdout" | "stderr" | "inlineLimitBytes" | "redact">): Shown {
  const room = Math.max(inlineLimitBytes - RESERVED_BYTES, Math.floor(inlineLimitBytes / 2));
  const half = Math.floor(room / 2);
  const needs = { stdout: wholeLength(stdout.ends), stderr: wholeLength(stderr.ends) };
  const share = {
    stdout: Math.max(half, room - needs.stderr),
    stderr: Math.max(half, room - needs.stdout),
  };
  return {
    stdout: showOutput(stdout.ends, stdout.bytes, share.stdout, redact),
    stderr: showOutput(stderr.ends, stderr.bytes, share.stderr, redact),
  };
}

interface Shown {
  readonly stdout: ShownOutput;
  readonly stderr: ShownOutput;
}

function layOut({ stdout, stderr }: Shown, notes: readonly string[]): string {
  const parts = [
    withoutLastBreak(stdout.text),
    stderr.text === "" ? "" : `stderr:\n${withoutLastBreak(stderr.text)}`,
  ].filter((part) => part !== "");
  if (parts.length === 0) parts.push("(It wrote nothing.)");
  return [...parts, ...notes.map((note) => `(${note})`)].join("\n");
}

function withoutLastBreak(text: string): string {
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

function failureOf({ exit_code, signal }: ProcessEnd): string | undefined {
  if (signal !== null) return `was killed by ${signal}`;
  return exit_code === 0 ? undefined : `failed with exit code ${exit_code}`;
}

function summaryOf({ argv, stdout, stderr }: EndedCommand, failure: string | undefined): string {
  const program = argv[0] ?? "";
  return `${program} ${failure ?? "succeeded"} (${stdout.bytes + stderr.bytes} bytes of output)`;
}

function lossOf(name: string, kept: KeptOutput): string[] {
  return kept.kind === "lost" ? [`The rest of ${name} could not be kept: ${kept.why}`] : [];
}

function leftBehind({ leftovers, survivors }: ProcessEnd): string[] {
  const notes: string[] = [];
  if (leftovers > 0) {
    notes.push(`${leftovers} of its processes were still running when it ended, and were stopped.`);
  }
  if (survivors > 0) notes.push(`${survivors} of its processes could not be stopped.`);
  return notes;
}

function changeNote(changed: readonly string[]): string[] {
  if (changed.length === 0) return [];
  const more = changed.length - MOST_NAMED;
  const names = changed.slice(0, MOST_NAMED).map((name) => JSON.stringify(name));
  const others = more > 0 ? ` and ${more} more` : "";
  return [`Changed since you read them: ${names.join(", ")}${others}. Read again before you edit.`];
}

function refOf(kept: KeptOutput): ArtifactRef[] {
  return kept.kind === "artifact" ? [kept.ref] : [];
}

function blockOf({ artifact_id, media_type, size, name }: ArtifactRef): ContentBlock {
  return {
    type: "artifact_ref",
    artifact_id,
    media_type,
    size,
    ...(name === undefined ? {} : { name }),
  };
}

function streamData(
  { bytes }: CapturedOutput,
  { truncated }: ShownOutput,
  kept: KeptOutput,
): { bytes: number; truncated: boolean; artifact_id?: string } {
  return {
    bytes,
    truncated,
    ...(kept.kind === "artifact" ? { artifact_id: kept.ref.artifact_id } : {}),
  };
}
