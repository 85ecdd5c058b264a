// The result of a command that has ended (CMD-2): both streams for the model, the numbers for programs,
// and an error where it failed, which still shows everything it wrote.

import { toolResult, type HandlerResult } from "@soong/core";
import { omitUndefined } from "@soong/schema";
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
  /** Of a command that ran in a sandbox. */
  readonly sandboxNotes: readonly string[] | undefined;
  readonly inlineLimitBytes: number;
  readonly redact: (text: string) => string;
}

export async function describeEnd(command: EndedCommand): Promise<HandlerResult> {
  const { end, argv, cwd, stdout, stderr, changedFiles } = command;
  const { exit_code, signal, leftovers, survivors } = end;
  const shown = showBoth(command);
  const kept = {
    stdout: await stdout.keep(shown.stdout.truncated),
    stderr: await stderr.keep(shown.stderr.truncated),
  };
  const artifacts = [kept.stdout, kept.stderr].flatMap((one) =>
    one.kind === "artifact" ? [one.ref] : [],
  );
  const failure = describeFailure(end);
  const bytes = stdout.bytes + stderr.bytes;
  return toolResult({
    ok: failure === undefined,
    content: [
      { type: "text", text: layOut(shown, listNotes(command, kept)) },
      ...artifacts.map(({ artifact_id, media_type, size, name }) => ({
        type: "artifact_ref" as const,
        artifact_id,
        media_type,
        size,
        ...omitUndefined({ name }),
      })),
    ],
    summary: `${argv[0] ?? ""} ${failure ?? "succeeded"} (${bytes} bytes of output)`,
    data: {
      exit_code,
      signal,
      stdout: streamData(stdout, shown.stdout, kept.stdout),
      stderr: streamData(stderr, shown.stderr, kept.stderr),
      cwd,
      duration_ms: Math.round(end.duration_ms),
      contained_by: command.sandboxNotes === undefined ? CONTAINED_BY : "sandbox",
      ...(leftovers === 0 ? {} : { leftovers }),
      ...(survivors === 0 ? {} : { survivors }),
      ...(changedFiles.length === 0 ? {} : { changed_files: changedFiles.slice(0, MOST_NAMED) }),
    },
    artifacts,
    ...(failure === undefined
      ? {}
      : {
          error: {
            code: "command_failed",
            message: `The command ${failure}.`,
            details: { exit_code, signal },
          },
        }),
  });
}

/** What there is of both streams when the command is cut short: the result has nothing but this text. */
export function partialText(
  command: Omit<EndedCommand, "end" | "changedFiles" | "sandboxNotes">,
): string {
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

type Shown = Readonly<Record<"stdout" | "stderr", ShownOutput>>;

/** Each stream may have half of the room, and what the other does not need. */
function showBoth({
  stdout,
  stderr,
  inlineLimitBytes,
  redact,
}: Pick<EndedCommand, "stdout" | "stderr" | "inlineLimitBytes" | "redact">): Shown {
  const room = Math.max(inlineLimitBytes - RESERVED_BYTES, Math.floor(inlineLimitBytes / 2));
  const show = (one: CapturedOutput, other: CapturedOutput): ShownOutput => {
    const share = Math.max(Math.floor(room / 2), room - wholeLength(other.ends));
    return showOutput(one.ends, one.bytes, share, redact);
  };
  return { stdout: show(stdout, stderr), stderr: show(stderr, stdout) };
}

function layOut({ stdout, stderr }: Shown, notes: readonly string[]): string {
  const withoutLastBreak = (text: string): string => text.replace(/\n$/, "");
  const parts = [
    withoutLastBreak(stdout.text),
    stderr.text === "" ? "" : `stderr:\n${withoutLastBreak(stderr.text)}`,
  ].filter((part) => part !== "");
  if (parts.length === 0) parts.push("(It wrote nothing.)");
  return [...parts, ...notes.map((note) => `(${note})`)].join("\n");
}

function describeFailure({ exit_code, signal }: ProcessEnd): string | undefined {
  if (signal !== null) return `was killed by ${signal}`;
  return exit_code === 0 ? undefined : `failed with exit code ${exit_code}`;
}

function listNotes(
  { end: { leftovers, survivors }, changedFiles: changed, sandboxNotes = [] }: EndedCommand,
  kept: Readonly<Record<"stdout" | "stderr", KeptOutput>>,
): string[] {
  const notes = Object.entries(kept).flatMap(([name, one]) =>
    one.kind === "lost" ? [`The rest of ${name} could not be kept: ${one.why}`] : [],
  );
  if (leftovers > 0) {
    notes.push(`${leftovers} of its processes were still running when it ended, and were stopped.`);
  }
  if (survivors > 0) notes.push(`${survivors} of its processes could not be stopped.`);
  notes.push(...sandboxNotes);
  if (changed.length === 0) return notes;
  const names = changed.slice(0, MOST_NAMED).map((name) => JSON.stringify(name));
  const more = changed.length > MOST_NAMED ? ` and ${changed.length - MOST_NAMED} more` : "";
  const what = `${names.join(", ")}${more}`;
  return [...notes, `Changed since you read them: ${what}. Read again before you edit.`];
}

function streamData({ bytes }: CapturedOutput, { truncated }: ShownOutput, kept: KeptOutput) {
  const artifact_id = kept.kind === "artifact" ? kept.ref.artifact_id : undefined;
  return { bytes, truncated, ...omitUndefined({ artifact_id }) };
}
