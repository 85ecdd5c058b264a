// Why a login did not come about, in words for users; and words of a server in a message of ours.

import { SoongError } from "@soong/core";
import { oneLine } from "@soong/schema";

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

const LONGEST = 500;
/** Shorter values are words like "true"; to hide them would hide the message. */
const SHORTEST_SECRET = 6;

/** One line, bounded, without what a terminal would obey, and without the secrets the server was given. */
export function serverLine(text: string, secrets: readonly string[] = [], most = LONGEST): string {
  let line = text;
  for (const secret of secrets) {
    if (secret.length >= SHORTEST_SECRET) line = line.replaceAll(secret, "[redacted]");
  }
  return oneLine(line, most);
}
