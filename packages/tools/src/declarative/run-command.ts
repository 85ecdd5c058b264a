// Runs one declared command and makes a result of it (DECL-4, DECL-7): JSON on stdin, a ToolResult as JSON or any
// text on stdout, stderr as log. What is over a limit continues into an artifact; the command is never stopped for it.

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
import { describeEnd, startProcess, type ProcessEnd } from "@soong/platform";
import { omitUndefined } from "@soong/schema";
import {
  captureOutput,
  reportProgress,
  showOutput,
  type CapturedOutput,
} from "../command/index.ts";
import type { EnteredSandbox } from "../sandbox/index.ts";
import { failureWords, keepArtifacts, readOutput, type ReadOutput } from "./read-output.ts";

export type Command = Extract<Resource, { kind: "command" }>;

export interface CommandRun {
  readonly command: Command;
  readonly env: Readonly<Record<string, string>>;
  readonly inside: EnteredSandbox | undefined;
  readonly input: JsonObject;
  readonly output: "result" | "text";
  readonly limits: { readonly stdout: number; readonly stderr: number };
}

export async function runCommand(
  context: ToolContext,
  run: CommandRun,
  clock: Clock,
): Promise<HandlerResult> {
  const { command, env, input, inside, limits } = run;
  const { argv, cwd } = command;
  const { artifacts, signal, toolName, toolCallId, idempotencyKey } = context;
  const request = {
    tool_name: toolName,
    tool_call_id: toolCallId,
    idempotency_key: idempotencyKey,
    cwd,
    input,
  };
  const stdout = captureOutput("stdout", { artifacts, inlineLimitBytes: limits.stdout });
  const stderr = captureOutput("stderr", { artifacts, inlineLimitBytes: limits.stderr });
  const running = startProcess({
    // By the name it was found by, which was just seen to lead to what was judged: some look at their name.
    executable: argv[0] ?? command.executable,
    argv,
    cwd,
    env,
    ...omitUndefined({ sandbox: inside?.start }),
    stdin: `${JSON.stringify(request)}\n`,
    onStdout: (chunk) => stdout.push(chunk),
    onStderr: (chunk) => stderr.push(chunk),
    signal,
  });
  const streams = [stderr, stdout];
  const stopProgress = reportProgress(clock, undefined, streams, context, { atOnce: false });
  // The signal comes first: afterwards nothing a handler reports is used.
  const keepPartial = (): void => {
    const blocks = streamBlocks(context, [stdout, stderr]);
    if (blocks.length > 0) context.output(blocks.map(({ text }) => text).join("\n"));
  };
  signal.addEventListener("abort", keepPartial);
  const finished = (async () => {
    try {
      const end = await running.end;
      const output = [stdout.recent, stderr.recent];
      const notes = await inside?.leave({ end, running, output, mayWrite: true });
      const result = await makeResult(context, run, end, stdout, stderr);
      if (notes === undefined || notes.length === 0) return result;
      const text = notes.map((note) => `(${note})`).join("\n");
      return { ...result, content: [...(result.content ?? []), textBlock(text)] };
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

async function makeResult(
  context: ToolContext,
  { output, inside, limits }: CommandRun,
  end: ProcessEnd,
  stdout: CapturedOutput,
  stderr: CapturedOutput,
): Promise<HandlerResult> {
  const { redact, toolName, inlineLimitBytes } = context;
  const keptLog = await stderr.keep(stderr.bytes > MAX_LOG_CHARS);
  // Redacted before it is cut: half a secret is not recognised.
  const log = redact(showOutput(stderr.ends, stderr.bytes, MAX_LOG_CHARS, redact).text);
  const process: JsonObject = {
    exit_code: end.exit_code,
    ...(end.signal !== null && { signal: end.signal }),
    ...(end.leftovers > 0 && { leftovers: end.leftovers }),
    ...(inside !== undefined && { contained_by: "sandbox" }),
    ...(log.trim() !== "" && { stderr: log }),
    ...(keptLog.kind === "lost" && { stderr_lost: keptLog.why }),
  };

  // stdout as text: whole, or its ends and the artifact that has all of it.
  const whole =
    "whole" in stdout.ends && stdout.bytes <= limits.stdout ? stdout.ends.whole : undefined;
  const room = whole === undefined ? Math.floor(inlineLimitBytes / 2) : Number.POSITIVE_INFINITY;
  const { text: printed, truncated } = showOutput(stdout.ends, stdout.bytes, room, redact);
  // Bytes that are not text are only described.
  const kept = await stdout.keep(output === "text" && truncated);
  const printedBlocks = (label: string): ContentBlock[] => [
    ...(printed.trim() === "" ? [] : [textBlock(label + printed)]),
    ...(kept.kind === "lost"
      ? [textBlock(`${label}(The rest could not be kept: ${kept.why})`)]
      : []),
    ...(kept.kind === "artifact" ? [referToArtifact(kept.ref)] : []),
  ];
  const read: ReadOutput =
    output === "text"
      ? { ok: true, result: { ok: true, content: printedBlocks("") }, artifacts: [] }
      : whole === undefined
        ? {
            ok: false,
            message: `printed ${stdout.bytes} bytes where stdout_limit_bytes is ${limits.stdout}, so its result was not read; all of it is in the artifact`,
          }
        : readOutput(whole);
  const given = read.ok ? await keepArtifacts(read.artifacts, context) : [];
  const refused = typeof given === "string" ? given : "";
  const own = read.ok && typeof given !== "string" ? read.result : undefined;
  const artifacts = [
    ...(typeof given === "string" ? [] : given),
    ...[kept, keptLog].flatMap((one) => (one.kind === "artifact" ? [one.ref] : [])),
  ];
  const metadata = { ...own?.metadata, process };
  const logBlocks = streamBlocks(context, [stderr]);
  if (end.exit_code === 0 && own !== undefined) {
    const failed = own.ok === false || own.status === "failed" || own.error !== undefined;
    const content = [...(own.content ?? []), ...(failed ? logBlocks : [])];
    return toolResult({ ...own, content, artifacts, metadata });
  }

  const badOutput = (): ToolFault => {
    const why = read.ok ? `printed a result in which ${refused}` : read.message;
    const began = showOutput(stdout.ends, stdout.bytes, MAX_SHOWN, redact).text;
    const shown = began.trim() === "" ? "" : ` It began with ${JSON.stringify(head(began))}.`;
    return {
      code: "bad_tool_output",
      message: `${toolName} ${why}; its stdout has to be one ToolResult as JSON, such as {"ok":true,"content":[{"type":"text","text":"…"}]}, or its file has to say "output": "text".${shown}`,
      recovery: "use_another_tool",
    };
  };
  const badExit = (): ToolFault => {
    const { exit_code, signal } = end;
    // What the program itself says of its failure: in its result, in other JSON, or at the end of its log.
    const isOther = own === undefined && output === "result" && "whole" in stdout.ends;
    const said = own?.summary ?? (isOther ? failureWords(stdout.ends.whole) : undefined);
    const lastLine = log.trimEnd().split("\n").at(-1) ?? "";
    const words = (said === undefined || said.trim() === "" ? lastLine : redact(said)).trim();
    const message = `${toolName} ${describeEnd(end)}${words === "" ? "." : `: ${head(words)}`}`;
    return { code: "command_failed", message, details: { exit_code, signal } };
  };
  const isOwn = own !== undefined && output === "result";
  return toolResult({
    ok: false,
    error: own?.error ?? (end.exit_code === 0 ? badOutput() : badExit()),
    content: [...(isOwn ? (own.content ?? []) : printedBlocks("stdout:\n")), ...logBlocks],
    ...omitUndefined({ data: own?.data }),
    artifacts,
    metadata,
  });
}

type ToolFault = Exclude<HandlerResult["error"], string | undefined>;

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

function referToArtifact(ref: ArtifactRef): ContentBlock {
  const { artifact_id, media_type, size, name = "stdout" } = ref;
  return { type: "artifact_ref", artifact_id, media_type, size, name };
}

function textBlock(text: string): { type: "text"; text: string } {
  return { type: "text", text };
}

function head(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
