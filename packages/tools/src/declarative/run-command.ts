// Runs one declared command and makes a result of it (DECL-4): JSON on stdin, a ToolResult as JSON on stdout,
// stderr as log. Both streams are bounded while they come; who prints more is stopped.

import { StringDecoder } from "node:string_decoder";
import {
  toolResult,
  ToolFailure,
  type ContentBlock,
  type HandlerResult,
  type JsonObject,
  type Resource,
  type ToolContext,
} from "@soong/core";
import { startProcess, type OutputConsumer, type ProcessEnd } from "../process/index.ts";
import { readOutput } from "./read-output.ts";

export type Command = Extract<Resource, { kind: "command" }>;

export interface CommandRun {
  readonly command: Command;
  readonly env: Readonly<Record<string, string>>;
  readonly input: JsonObject;
  readonly limits: { readonly stdout: number; readonly stderr: number };
}

export async function runCommand(
  context: ToolContext,
  { command, env, input, limits }: CommandRun,
): Promise<HandlerResult> {
  const { argv, cwd } = command;
  const stdout = collect("stdout", limits.stdout, context);
  const stderr = collect("stderr", limits.stderr, context);
  const running = startProcess({
    // By the name it was found by, which was just seen to lead to what was judged: some look at their name.
    executable: argv[0] ?? command.executable,
    argv,
    cwd,
    env,
    stdin: `${JSON.stringify(requestOf(context, cwd, input))}\n`,
    onStdout: stdout.take,
    onStderr: stderr.take,
    signal: context.signal,
  });
  const ended = running.end;
  context.onCancel(async () => {
    await ended.catch(() => {});
  });
  let end: ProcessEnd;
  try {
    end = await ended;
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    throw new ToolFailure(error.error, outputBlocks(stdout.text(), stderr.text()));
  }
  return resultOf(context, end, stdout, stderr);
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

interface Collected {
  readonly take: OutputConsumer;
  bytes(): Buffer;
  text(): string;
}

function collect(stream: "stdout" | "stderr", limit: number, context: ToolContext): Collected {
  const chunks: Buffer[] = [];
  const decoder = new StringDecoder("utf8");
  let size = 0;
  let isCut = false;
  const bytes = (): Buffer => Buffer.concat(chunks);
  return {
    bytes,
    text() {
      const text = bytes().toString("utf8");
      // In whole lines: what is left of a cut one could be half a secret.
      return isCut ? text.slice(0, text.lastIndexOf("\n") + 1) : text;
    },
    take(chunk) {
      const kept = chunk.subarray(0, limit - size);
      chunks.push(kept);
      size += kept.length;
      // What is left of a call that is cut short.
      context.output(decoder.write(kept));
      if (kept.length === chunk.length) return;
      isCut = true;
      throw new ToolFailure({
        code: "output_too_large",
        error_class: "result_too_large",
        message: `${context.toolName} printed more than ${limit} bytes on ${stream} and was stopped.`,
        recovery: "change_arguments",
        details: { stream, limit_bytes: limit },
      });
    },
  };
}

async function resultOf(
  context: ToolContext,
  end: ProcessEnd,
  stdout: Collected,
  stderr: Collected,
): Promise<HandlerResult> {
  const output = readOutput(stdout.bytes());
  const log = await keepLog(context, stderr);
  const process: JsonObject = {
    exit_code: end.exit_code,
    ...(end.signal === null ? {} : { signal: end.signal }),
    ...(end.leftovers === 0 ? {} : { leftovers: end.leftovers }),
    ...log.metadata,
  };
  if (end.exit_code === 0 && output.ok) {
    const { result } = output;
    const failed = result.ok === false || result.status === "failed" || result.error !== undefined;
    return toolResult({
      ...result,
      ...(failed
        ? { content: [...(result.content ?? []), ...outputBlocks("", stderr.text())] }
        : {}),
      artifacts: log.artifacts,
      metadata: { ...result.metadata, process },
    });
  }
  const own = output.ok ? output.result : undefined;
  return toolResult({
    ok: false,
    error:
      own?.error ??
      (end.exit_code === 0 && !output.ok
        ? badOutput(context, output.message, stdout.text())
        : badExit(context, end, stderr.text())),
    content: [
      ...(own?.content ?? []),
      ...outputBlocks(own === undefined ? stdout.text() : "", stderr.text()),
    ],
    ...(own?.data === undefined ? {} : { data: own.data }),
    artifacts: log.artifacts,
    metadata: { ...own?.metadata, process },
  });
}

function badOutput({ toolName, redact }: ToolContext, message: string, printed: string) {
  const shown =
    printed.trim() === "" ? "" : ` It began with ${JSON.stringify(head(redact(printed)))}.`;
  return {
    code: "bad_tool_output",
    message: `${toolName} ${message}; its stdout has to be one ToolResult as JSON, such as {"ok":true,"content":[{"type":"text","text":"…"}]}.${shown}`,
    recovery: "use_another_tool" as const,
  };
}

function badExit({ toolName, redact }: ToolContext, end: ProcessEnd, log: string) {
  const how =
    end.exit_code === null
      ? `was ended by ${end.signal ?? "a signal"}`
      : `exited with code ${end.exit_code}`;
  const [last] = redact(log).trimEnd().split("\n").slice(-1);
  const words = last === undefined || last.trim() === "" ? "." : `: ${head(last.trim())}`;
  return {
    code: "command_failed",
    message: `${toolName} ${how}${words}`,
    details: { exit_code: end.exit_code, signal: end.signal },
  };
}

/** The log of a call: its end with the result, and all of it as an artifact where that is not all. */
async function keepLog(
  context: ToolContext,
  stderr: Collected,
): Promise<Required<Pick<HandlerResult, "artifacts" | "metadata">>> {
  // Redacted before it is cut: half a secret is not recognised.
  const text = context.redact(stderr.text());
  if (text.trim() === "") return { artifacts: [], metadata: {} };
  if (text.length <= MAX_INLINE_LOG) return { artifacts: [], metadata: { stderr: text } };
  const about = { media_type: "text/plain", name: `${context.toolName}.stderr.txt` };
  const ref = await context.artifacts.write(stderr.bytes(), about);
  return { artifacts: [ref], metadata: { stderr: `…${text.slice(-MAX_INLINE_LOG)}` } };
}

const MAX_INLINE_LOG = 2000;
const MAX_SHOWN = 200;

function outputBlocks(stdout: string, stderr: string): ContentBlock[] {
  return [
    { name: "stdout", text: stdout },
    { name: "stderr", text: stderr },
  ].flatMap(({ name, text }) =>
    text.trim() === "" ? [] : [{ type: "text" as const, text: `${name}:\n${text}` }],
  );
}

function head(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
