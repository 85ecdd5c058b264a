// How a model fails, in the few kinds the loop treats differently (LOOP-3).

export type ModelErrorKind =
  | "overloaded"
  | "rate_limited"
  /** The connection broke in the middle of an answer. */
  | "disconnect"
  | "network"
  | "timeout"
  /** Any other 5xx. */
  | "server_error"
  /** The answer is not of the provider's own format. */
  | "malformed_stream"
  | "prompt_too_long"
  /** It went on for longer, or for more bytes, than one answer may. */
  | "answer_too_slow"
  | "answer_too_large"
  /** The request asks for what this model cannot do (MODEL-2). */
  | "unsupported_capability"
  | "authentication"
  | "invalid_request"
  /** A script that ran out of turns, or an expectation it missed. */
  | "script"
  /** The budget of the run is used up, or cannot be kept with this model. */
  | "budget"
  | "aborted";

export interface ModelError {
  readonly kind: ModelErrorKind;
  /** For the user: what happened and what to do about it. No key, no header. */
  readonly message: string;
  readonly status?: number;
  /** The provider's own wish. */
  readonly retry_after_ms?: number;
}

const RETRYABLE: ReadonlySet<ModelErrorKind> = new Set([
  "overloaded",
  "rate_limited",
  "disconnect",
  "network",
  "timeout",
  "server_error",
  "malformed_stream",
]);

export function isRetryable({ kind }: ModelError): boolean {
  return RETRYABLE.has(kind);
}
