// Errors: what is thrown for a caller to act on, a sentence for users and a code for programs; and what foreign code
// throws, in words. No property of that is trusted, and there is never a stack trace (RESULT-4).

export interface SoongErrorOptions extends ErrorOptions {
  /** Of a command that ends with it; 1 by default. */
  readonly exitCode?: number;
}

/** The base of every error that a caller may want to distinguish from others; `code` says which it is. */
export class SoongError<Code extends string = string> extends Error {
  override readonly name: string = "SoongError";
  readonly code: Code;
  readonly exitCode: number;

  constructor(code: Code, message: string, { exitCode = 1, ...options }: SoongErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** No one reads more; it is cut once more, after redaction, wherever it is shown. */
const MAX_CHARS = 100_000;

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  let text: string | undefined;
  try {
    text = describe(thrown);
  } catch {
    text = undefined;
  }
  return (text ?? "something that cannot be shown was thrown").slice(0, MAX_CHARS);
}

function describe(thrown: unknown): string | undefined {
  if (typeof thrown === "string") return thrown === "" ? "an empty text was thrown" : thrown;
  if (typeof thrown === "symbol") return thrown.toString();
  if (typeof thrown === "function") return "a function was thrown";
  if (typeof thrown !== "object" || thrown === null) return `${String(thrown)} was thrown`;
  const { message, name } = thrown as { message?: unknown; name?: unknown };
  if (typeof message === "string" && message !== "") return message;
  if (thrown instanceof Error) {
    return `${typeof name === "string" && name !== "" ? name : "an error"} without a message was thrown`;
  }
  return describeObject(thrown);
}

function describeObject(thrown: object): string {
  try {
    const text = JSON.stringify(thrown) as string | undefined;
    if (text !== undefined && text !== "{}") return `an object was thrown: ${text}`;
  } catch {
    // A cycle, a getter that throws: then it is just an object.
  }
  return "an object was thrown";
}

/** A handler that must answer synchronously returned a promise. No one awaits it, so a rejection is ignored. */
export function isPromise(value: unknown): boolean {
  const hasThen =
    typeof value === "object" &&
    value !== null &&
    typeof (value as { then?: unknown }).then === "function";
  if (hasThen) void Promise.resolve(value).catch(() => {});
  return hasThen;
}
