// The two ways it goes wrong: a server that cannot be had at all, and one request to it that fails.

import { type JsonValue, SoongError } from "@soong/core";

export type McpServerFailureReason =
  /** A variable its entry refers to is not set. */
  | "variable_missing"
  /** Its program cannot be started, or its address cannot be reached. */
  | "unreachable"
  /** It did not answer in time. */
  | "timeout"
  /** It wants a login, or refused ours. */
  | "unauthorized"
  /** What it answered is not MCP, or no version we speak. */
  | "protocol"
  /** It was there and is gone: its process ended, its connection broke. */
  | "lost"
  /** We closed it. */
  | "closed"
  /** The caller gave up waiting. Says nothing about the server. */
  | "aborted";

/** The server cannot be had. The message is for users, in one line, without secrets of its entry. */
export class McpServerFailure extends SoongError<McpServerFailureReason> {
  override readonly name = "McpServerFailure";
  readonly reason = this.code;
}

export type McpRequestFailureReason =
  /** The caller's signal fired. */
  | "aborted"
  /** No answer and no progress for the time allowed. */
  | "timeout"
  /** The server went away meanwhile: whether it did what it was asked is unknown. */
  | "lost"
  /** The server answered with an error of the protocol: see `code` and `data`. */
  | "rpc_error"
  /** The server wants a login, or another one: nothing was done. */
  | "unauthorized"
  /** The server answered something that is not an answer. */
  | "invalid_answer"
  /** The server asked for something on the way that no one gave it: see `code`. */
  | "refused";

/** One request failed; the server may be well. */
export class McpRequestFailure extends Error {
  override readonly name = "McpRequestFailure";
  readonly reason: McpRequestFailureReason;
  /** With rpc_error: what the server sent, such as -32042 and its data. With refused: what it receives. */
  readonly code: number | undefined;
  readonly data: JsonValue | undefined;

  constructor(
    reason: McpRequestFailureReason,
    message: string,
    error?: { code: number; data?: JsonValue | undefined },
  ) {
    super(message);
    this.reason = reason;
    this.code = error?.code;
    this.data = error?.data;
  }
}
