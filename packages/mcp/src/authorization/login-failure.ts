// Why a login did not come about, in words for users.

import { SoongError } from "@soong/core";

export type McpLoginFailureReason =
  /** The server wants no login, or none that we know. */
  | "not_offered"
  /** The authorization server, or the user, said no. */
  | "refused"
  /** An address that is not safe to send anything to, or an answer from someone else. */
  | "insecure"
  | "unreachable"
  | "timeout"
  | "aborted"
  /** What was answered makes no sense. */
  | "invalid_answer"
  /** The login cannot be kept, or what was kept cannot be read. */
  | "not_stored";

/** The message is one line, without secrets, and says what to do. */
export class McpLoginFailure extends SoongError<McpLoginFailureReason> {
  override readonly name = "McpLoginFailure";
  readonly reason = this.code;
}
