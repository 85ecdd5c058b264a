// Runs one declared command and makes a result of it (DECL-4, DECL-7): JSON on stdin, a ToolResult as JSON or any
// text on stdout, stderr as log. What is over a limit goes on into an artifact; the command is never stopped for it.

import {
  toolResult,
  type ArtifactRef,
  type Clock,
  type ContentBlock,
  type HandlerResult,
  type JsonObject,
  type Resource,
  type ToolContext,
} from "@soong/core";
import { startProcess, type ProcessEnd } from "@soong/platform";
import {
  captureOutput,
  reportProgress,
  showOutput,
  type CapturedOutput,
  type KeptOutput,
} from "../command/index.ts";
import { failureWords, keepArtifacts, readOutput, type ReadOutput } from "./read-output.ts";

export type Command = Extract<Resource, { kind: "command" }>;

export interface CommandRun {
  readonly command: Command;
  readonly env: Readonly<Record<string, string>>;
  readonly input: JsonObject;
  readonly output: "result" | "text";
  readonly limits: { readonly stdout: number; readonly stderr: number };
}

export async function runCommand(
  context: ToolContext,
  run: CommandRun,
  clock: Clock,
): Promise<HandlerResult> {
  const { command, env, input, limits } = run;
  const { argv, cwd } = command;
  const { artifacts, signal } = context;
  const stdout = captureOutput("stdout", { artifacts, inlineLimitBytes: limits.stdout });
  const stderr = captureOutput("stderr", { artifacts, inlineLimitBytes: limits.stderr });
  const running = startProcess({
    // By the name it was found by, which was just seen to lead to what was judged: some look at their name.
    executable: argv[0] ?? command.executable,
    argv,
    cwd,
    env,
    stdin: `${JSON.stringify(requestOf(context, cwd, input))}\n`,
    onStdout: (chunk) => stdout.push(chunk),
    onStderr: (chunk) => stderr.push(chunk),
    signal,
  });
  const streams = [stderr, stdout];
  const stopProgress = reportProgress(clock, undefined, streams, context, { atOnce: false });
  // The signal comes first: afterwards nothing a handler says is heard.
  const keepPartial = (): void => {
    const blocks = streamBlocks(context, [stdout, stderr]);
    if (blocks.length > 0) context.output(blocks.map(({ text }) => text).join("\n"));
  };
  signal.addEventListener("abort", keepPartial);
  const finished = (async () => {
    try {
      return await resultOf(context, run, { end: await running.end, stdout, stderr });
    } finally {
      stopProgress();
      signal.removeEventListener("abort", keepPartial);
    }
  })();
  context.onCancel(async () => {
    await finished.catch(() => {});
  });
  return finished;
}

/** What the command reads on its stdin. */
function requestOf(context: ToolContext, cwd: string, input: JsonObject): JsonObject {
  return {
    tool_name: context.toolName,
    tool_call_id: context.toolCallId,
    idempotency_key: context.idempotencyKey,
    cwd,
    input,
  };
}

interface EndedCommand {
  readonly end: ProcessEnd;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
}

async function resultOf(
  context: ToolContext,
  { output, limits }: CommandRun,
  { end, stdout, stderr }: EndedCommand,
): Promise<HandlerResult> {
  const log = await keepLog(context, stderr);
  const process: JsonObject = {
    exit_code: end.exit_code,
    ...(end.signal === null ? {} : { signal: end.signal }),
    ...(end.leftovers === 0 ? {} : { leftovers: end.leftovers }),
    ...log.metadata,
  };
  const isWhole = "whole" in stdout.ends && stdout.bytes <= limits.stdout;
  const printed = await printedBy(context, stdout, isWhole);
  const read =
    output === "text" ? textOutput(printed.blocks) : jsonOutput(stdout, isWhole, limits.stdout);
  const given = read.ok ? await keepArtifacts(read.artifacts, context) : [];
  const own = read.ok && typeof given !== "string" ? read.result : undefined;
  const refused = typeof given === "string" ? `printed a result in which ${given}` : undefined;
  const artifacts = [
    ...(typeof given === "string" ? [] : given),
    ...printed.artifacts,
    ...log.artifacts,
  ];
  const metadata = { ...own?.metadata, process };
  if (end.exit_code === 0 && own !== undefined) {
    const failed = own.ok === false || own.status === "failed" || own.error !== undefined;
    const content = [...(own.content ?? []), ...(failed ? streamBlocks(context, [stderr]) : [])];
    return toolResult({ ...own, content, artifacts, metadata });
  }
  const why = read.ok ? (refused ?? "") : read.message;
  return toolResult({
    ok: false,
    error:
      own?.error ??
      (end.exit_code === 0
        ? badOutput(context, why, stdout)
        : badExit(context, end, wordsOf(context, { own, output, stdout, stderr }))),
    content: [
      ...(own !== undefined && output === "result" ? (own.content ?? []) : labelled(printed)),
      ...streamBlocks(context, [stderr]),
    ],
    ...(own?.data === undefined ? {} : { data: own.data }),
    artifacts,
    metadata,
  });
}

interface Printed {
  readonly blocks: readonly ContentBlock[];
  readonly artifacts: readonly ArtifactRef[];
}

/** stdout as text: whole, or its ends and the artifact that has all of it. */
async function printedBy(
  context: ToolContext,
  stdout: CapturedOutput,
  isWhole: boolean,
): Promise<Printed> {
  const kept = await stdout.keep(false);
  const room = isWhole ? Number.POSITIVE_INFINITY : Math.floor(context.inlineLimitBytes / 2);
  const { text } = showOutput(stdout.ends, stdout.bytes, room, context.redact);
  return {
    blocks: [...(text.trim() === "" ? [] : [textBlock(text)]), ...keptBlocks(kept)],
    artifacts: kept.kind === "artifact" ? [kept.ref] : [],
  };
}

function labelled({ blocks }: Printed): ContentBlock[] {
  return blocks.map((block) =>
    block.type === "text" ? textBlock(`stdout:\n${block.text}`) : block,
  );
}

function textOutput(content: readonly ContentBlock[]): ReadOutput {
  return { ok: true, result: { ok: true, content: [...content] }, artifacts: [] };
}

function jsonOutput(stdout: CapturedOutput, isWhole: boolean, limit: number): ReadOutput {
  if (isWhole && "whole" in stdout.ends) return readOutput(stdout.ends.whole);
  return {
    ok: false,
    message: `printed ${stdout.bytes} bytes where stdout_limit_bytes is ${limit}, so its result was not read; all of it is in the artifact`,
  };
}

function badOutput({ toolName, redact }: ToolContext, message: string, stdout: CapturedOutput) {
  const { text } = showOutput(stdout.ends, stdout.bytes, MAX_SHOWN, redact);
  const shown = text.trim() === "" ? "" : ` It began with ${JSON.stringify(head(text))}.`;
  return {
    code: "bad_tool_output",
    message: `${toolName} ${message}; its stdout has to be one ToolResult as JSON, such as {"ok":true,"content":[{"type":"text","text":"…"}]}, or its file has to say "output": "text".${shown}`,
    recovery: "use_another_tool" as const,
  };
}

/** What the program itself says of its failure: in its result, in other JSON, or at the end of its log. */
function wordsOf(
  { redact }: ToolContext,
  {
    own,
    output,
    stdout,
    stderr,
  }: Pick<EndedCommand, "stdout" | "stderr"> &
    Pick<CommandRun, "output"> & { readonly own: HandlerResult | undefined },
): string {
  const inJson =
    own?.summary ??
    (own === undefined && output === "result" && "whole" in stdout.ends
      ? failureWords(stdout.ends.whole)
      : undefined);
  if (inJson !== undefined && inJson.trim() !== "") return redact(inJson).trim();
  const log = showOutput(stderr.ends, stderr.bytes, MAX_LOG_CHARS, redact).text;
  return redact(log).trimEnd().split("\n").at(-1)?.trim() ?? "";
}

function badExit({ toolName }: ToolContext, end: ProcessEnd, words: string) {
  const how =
    end.exit_code === null
      ? `was ended by ${end.signal ?? "a signal"}`
      : `exited with code ${end.exit_code}`;
  return {
    code: "command_failed",
    message: `${toolName} ${how}${words === "" ? "." : `: ${head(words)}`}`,
    details: { exit_code: end.exit_code, signal: end.signal },
  };
}

/** The log of a call: its end with the result, and all of it as an artifact where that is not all. */
async function keepLog(
  { redact }: ToolContext,
  stderr: CapturedOutput,
): Promise<{ metadata: JsonObject; artifacts: readonly ArtifactRef[] }> {
  const isLong = stderr.bytes > MAX_LOG_CHARS;
  const kept = await stderr.keep(isLong);
  // Redacted before it is cut: half a secret is not recognised.
  const { text } = showOutput(stderr.ends, stderr.bytes, MAX_LOG_CHARS, redact);
  return {
    metadata: {
      ...(text.trim() === "" ? {} : { stderr: redact(text) }),
      ...(kept.kind === "lost" ? { stderr_lost: kept.why } : {}),
    },
    artifacts: kept.kind === "artifact" ? [kept.ref] : [],
  };
}

const MAX_LOG_CHARS = 2000;
const MAX_SHOWN = 200;

/** Streams of a call that failed, each with its name; half of the room for each, so that both fit. */
function streamBlocks(
  { inlineLimitBytes, redact }: ToolContext,
  streams: readonly CapturedOutput[],
): { type: "text"; text: string }[] {
  return streams.flatMap(({ name, ends, bytes }) => {
    const { text } = showOutput(ends, bytes, Math.floor(inlineLimitBytes / 2), redact);
    return text.trim() === "" ? [] : [textBlock(`${name}:\n${text}`)];
  });
}

function keptBlocks(kept: KeptOutput): ContentBlock[] {
  if (kept.kind === "inline") return [];
  if (kept.kind === "lost") return [textBlock(`(The rest could not be kept: ${kept.why})`)];
  const { artifact_id, media_type, size, name = "stdout" } = kept.ref;
  return [{ type: "artifact_ref", artifact_id, media_type, size, name }];
}

function textBlock(text: string): { type: "text"; text: string } {
  return { type: "text", text };
}

function head(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
