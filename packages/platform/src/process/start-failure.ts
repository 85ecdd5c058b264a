// Why a process could not be started, in words. The system answers "no such file" for a missing program,
// a missing folder and a missing interpreter alike, so the cause is found by looking at each of them.

import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { ToolFailure } from "@soong/core";
import { invalidArguments } from "@soong/core/internal";

export interface StartRequest {
  executable: string;
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** Throws for what must not even be tried. */
export function refuseUnstartable({ executable, argv, cwd, env }: StartRequest): void {
  const badArgument = argv.findIndex((argument) => !canBePassed(argument));
  const badVariable = Object.entries(env).find(
    ([name, value]) => !/^[^=\0]+$/.test(name) || !canBePassed(value),
  );
  const problems: [boolean, string][] = [
    [!isAbsolute(executable), `The executable ${quoteText(executable)} is not an absolute path`],
    [!isAbsolute(cwd), `The working directory ${quoteText(cwd)} is not an absolute path`],
    [argv.length === 0, "The argument list is empty: it begins with a name"],
    [
      badArgument !== -1,
      `Argument ${badArgument} holds a NUL character or half of a character pair`,
    ],
    // The value stays out of the message: it may be a secret.
    [
      badVariable !== undefined,
      `The environment variable ${quoteText(badVariable?.[0] ?? "")} has a wrong name or holds a NUL`,
    ],
    [
      !canBePassed(executable) || !canBePassed(cwd),
      "The executable or working directory holds a NUL character",
    ],
  ];
  const [, problem] = problems.find(([holds]) => holds) ?? [];
  if (problem !== undefined) {
    const says = `${problem}. The process was not started; correct it.`;
    throw invalidArguments("invalid_argument", says);
  }
  if (firstLine(executable)?.kind === "text") {
    throw notExecutable(
      executable,
      "is a text file without a #! line, so the system does not know what runs it",
      "Add one, or name the interpreter as the program and the file as its argument",
    );
  }
}

/** After the system refused; `code` where it said why. */
export function startFailure(request: StartRequest, code: string | undefined): ToolFailure {
  const { executable, cwd } = request;
  if (code === "E2BIG") {
    return invalidArguments(
      "argument_list_too_long",
      `${executable} was not started: its arguments and environment are ${measureRequest(request)} bytes, more than the system takes. Pass fewer or shorter arguments, for example through a file.`,
    );
  }
  return (
    directoryFailure(cwd) ??
    executableFailure(executable) ??
    interpreterFailure(executable) ??
    limitFailure(executable, code)
  );
}

function directoryFailure(cwd: string): ToolFailure | undefined {
  const state = readState(cwd, "isDirectory");
  if (state === "usable") return undefined;
  const [code, what] = {
    missing: ["cwd_not_found", "does not exist"] as const,
    other: ["cwd_not_a_directory", "is not a directory"] as const,
    denied: ["cwd_access_denied", "may not be entered by this user"] as const,
  }[state];
  return invalidArguments(code, `The working directory ${cwd} ${what}. Choose another one.`);
}

function executableFailure(executable: string): ToolFailure | undefined {
  switch (readState(executable, "isFile")) {
    case "usable":
      return undefined;
    case "missing":
      return invalidArguments(
        "executable_not_found",
        `There is no program ${executable}. Check its name, or install it.`,
      );
    case "other":
      return notExecutable(executable, "is not a regular file", "Name a program");
    case "denied":
      return notExecutable(executable, "may not be run by this user", "Check its mode (chmod +x)");
  }
}

/** Whether there is such a node, and whether it may be run or entered. */
function readState(
  path: string,
  kind: "isFile" | "isDirectory",
): "usable" | "missing" | "other" | "denied" {
  try {
    if (!statSync(path)[kind]()) return "other";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? "denied" : "missing";
  }
  try {
    accessSync(path, constants.X_OK);
    return "usable";
  } catch {
    return "denied";
  }
}

function interpreterFailure(executable: string): ToolFailure | undefined {
  const line = firstLine(executable);
  if (line?.kind !== "script") return undefined;
  const cause = executableFailure(line.interpreter);
  if (cause === undefined) return undefined;
  return notExecutable(
    executable,
    `is a script for ${line.interpreter}, which cannot be run`,
    `${cause.message} Or correct the first line of the script`,
  );
}

/** All the files are in order, so it is the system that has no room for another process. */
function limitFailure(executable: string, code: string | undefined): ToolFailure {
  if (code !== undefined && code !== "EAGAIN" && code !== "ENOMEM") {
    return notExecutable(executable, `was refused by the system (${code})`, "Check the file");
  }
  const isFull = descriptorsAreUsedUp();
  return new ToolFailure({
    code: isFull ? "too_many_open_files" : "too_many_processes",
    error_class: "dependency_unavailable",
    recovery: "retry_after_delay",
    retryable: true,
    message: `${executable} was not started: ${
      isFull ? "this process has too many open files" : "the system allows no more processes now"
    }. Wait until others have ended, or raise the limit (ulimit -${isFull ? "n" : "u"}).`,
  });
}

function descriptorsAreUsedUp(): boolean {
  // A new process with its pipes takes a handful of them.
  const opened: number[] = [];
  try {
    for (let count = 0; count < 8; count += 1) opened.push(openSync("/dev/null", "r"));
    return false;
  } catch {
    return true;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function notExecutable(executable: string, what: string, remedy: string): ToolFailure {
  return invalidArguments("not_executable", `${executable} ${what}. ${remedy}.`);
}

const LONGEST_FIRST_LINE = 256;

/**
 * The system runs programs by their first bytes. For text without `#!` the C library would quietly call
 * the shell, another program than the one that was judged. Undefined when it cannot be read.
 */
function firstLine(
  executable: string,
): { kind: "script"; interpreter: string } | { kind: "text" } | { kind: "binary" } | undefined {
  let descriptor: number | undefined;
  try {
    // To open a device can already do something.
    if (!statSync(executable).isFile()) return undefined;
    descriptor = openSync(executable, constants.O_RDONLY | constants.O_NONBLOCK);
    const buffer = Buffer.alloc(LONGEST_FIRST_LINE);
    const head = buffer.subarray(0, readSync(descriptor, buffer)).toString("latin1");
    const script = /^#![ \t]*([^ \t\n\0]+)/.exec(head);
    if (script?.[1] !== undefined) return { kind: "script", interpreter: script[1] };
    return { kind: /[\0\x7f]/.test(head) ? "binary" : "text" };
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function canBePassed(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}

function measureRequest({ argv, env }: StartRequest): number {
  const strings = [...argv, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  return strings.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
}

function quoteText(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
