// A command as a hook (HOOK-5): argv without a shell, the payload as JSON on stdin, the answer as JSON on
// stdout, stderr as log. Every failure is thrown: for a guard the kernel makes a deny or a question of it.

import type { AnyHook, Hook, HookEvent, NamePattern } from "@soong/core";
import { isRecord, omitUndefined } from "@soong/schema";
import {
  describeEnd,
  findProgram,
  programEnvironment,
  startProcess,
  type EntryProgram,
  type EntrySandbox,
  type OpenEntrySandbox,
  type ProcessEnd,
  type ProgramPlaces,
  type RefusedHost,
} from "@soong/platform";

export interface CommandHook {
  readonly id: string;
  readonly event: HookEvent;
  /** The program and its arguments, given to it as they are. */
  readonly command: readonly string[];
  readonly tool?: NamePattern;
  readonly tags?: readonly string[];
  readonly path?: string;
  readonly timeout_ms?: number;
  readonly on_failure?: "continue";
  /** Names of environment variables it sees beside the ordinary ones. */
  readonly env_allowlist?: readonly string[];
  /** It runs in a sandbox with this open, or fails. */
  readonly sandbox?: EntrySandbox;
  /** What makes that sandbox; without it a hook that wants one fails. */
  readonly openSandbox?: OpenEntrySandbox;
  /** Where it is declared. */
  readonly file?: string;
  /** Where it runs, and from where a relative program is meant. Never a project. */
  readonly cwd: string;
  /** Sent to the hook; no program is taken from there. */
  readonly project?: string;
  /** Gets what the hook wrote to stderr, cut to its end when it is much. */
  readonly log?: (hook: string, text: string) => void;
}

export function commandHook(options: CommandHook): AnyHook {
  const { id, event, tool, tags, path, on_failure } = options;
  const timeout_ms = options.timeout_ms ?? DEFAULT_TIMEOUT_MS;
  const hook: Hook = {
    id,
    event,
    timeout_ms,
    ...omitUndefined({ tool, tags, path, on_failure }),
    run: async (payload, { signal }) => {
      const about = { event, project: options.project };
      return ask(options, timeout_ms, JSON.stringify({ ...about, ...payload }), signal);
    },
  };
  return hook as AnyHook;
}

/** Where a hook's program is looked for. */
export function placesOfHook(options: Pick<CommandHook, "cwd" | "project">): ProgramPlaces {
  const { cwd, project } = options;
  return {
    directory: cwd,
    trusted: cwd,
    roots: project === undefined ? undefined : { project, write: [] },
  };
}

/** Throws a ToolFailure that says why there is none. */
export function findHookProgram(
  options: Pick<CommandHook, "command" | "cwd" | "project" | "env_allowlist">,
): ReturnType<typeof findProgram> {
  const places = placesOfHook(options);
  const env = programEnvironment(options.env_allowlist ?? [], places.roots);
  return findProgram(options.command[0] ?? "", places, env);
}

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_LOG_BYTES = 16 * 1024;

async function ask(
  options: CommandHook,
  timeoutMs: number,
  payload: string,
  signal: AbortSignal,
): Promise<object | undefined> {
  const places = placesOfHook(options);
  const env = programEnvironment(options.env_allowlist ?? [], places.roots);
  const [, ...rest] = options.command;
  const { found, resolved } = findHookProgram(options);
  const sandbox = await openSandbox(options, {
    executable: resolved,
    args: rest,
    cwd: options.cwd,
    // Beside which it runs: the directory is masked but for what is needed of it.
    files: options.file === undefined ? [] : [options.file],
  });
  const answer: Buffer[] = [];
  let size = 0;
  const log = createLog();
  const running = startProcess({
    executable: found,
    argv: [found, ...rest],
    cwd: options.cwd,
    env,
    sandbox,
    stdin: `${payload}\n`,
    signal,
    timeoutMs,
    onStdout(chunk) {
      size += chunk.length;
      if (size > MAX_ANSWER_BYTES) {
        throw new Error(`answered with more than ${MAX_ANSWER_BYTES} bytes and was stopped`);
      }
      answer.push(chunk);
    },
    onStderr: log.take,
  });
  try {
    const end = await running.end;
    const problem = endProblem(end, timeoutMs, log.text());
    if (problem !== undefined) throw new Error(problem + describeRefused(running.refusedHosts()));
    return readAnswer(Buffer.concat(answer));
  } finally {
    const text = log.text();
    if (text !== "") options.log?.(options.id, text);
  }
}

function openSandbox(
  { sandbox, openSandbox: open }: CommandHook,
  program: EntryProgram,
): ReturnType<OpenEntrySandbox> | undefined {
  if (sandbox === undefined) return undefined;
  if (open === undefined) throw new Error("wants a sandbox, and this program has none");
  return open(sandbox, program);
}

function describeRefused(refused: readonly RefusedHost[]): string {
  return refused.map(({ host, why }) => `; its sandbox refused ${host}, which ${why}`).join("");
}

/** The end of what was written, in whole lines: the rest of a cut one could be half a secret. */
function createLog(): { take: (chunk: Buffer) => void; text: () => string } {
  let kept: Buffer = Buffer.alloc(0);
  let isCut = false;
  return {
    take(chunk) {
      const all = Buffer.concat([kept, chunk]);
      isCut ||= all.length > MAX_LOG_BYTES;
      kept = all.subarray(-MAX_LOG_BYTES);
    },
    text() {
      const text = kept.toString("utf8");
      const firstBreak = text.indexOf("\n");
      if (!isCut) return text;
      return firstBreak === -1 ? "" : text.slice(firstBreak + 1);
    },
  };
}

/** As a clause about the hook; undefined when it ended well. */
function endProblem(end: ProcessEnd, timeoutMs: number, log: string): string | undefined {
  if (end.ended_by === "timeout") return `did not answer within ${timeoutMs} ms`;
  if (end.ended_by === "abort") return "was stopped: the call had been cancelled";
  if (end.exit_code === 0) return undefined;
  const last = log.trimEnd().split("\n").at(-1)?.trim() ?? "";
  return last === "" ? describeEnd(end) : `${describeEnd(end)}: ${last}`;
}

/** Saying nothing is to pass. What the fields of an answer may be is checked by the kernel. */
function readAnswer(stdout: Buffer): object | undefined {
  const text = stdout.toString("utf8").trim();
  if (text === "") return undefined;
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Error("answered with something that is not JSON");
  }
  if (isRecord(answer)) return answer;
  throw new Error("answered with JSON that is not an object");
}
