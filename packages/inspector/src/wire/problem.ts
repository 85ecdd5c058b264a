// How a request fails. `message` is a whole sentence for the person at the page.

export interface Problem {
  error: { code: ProblemCode; message: string };
}

export type ProblemCode =
  /** No token, or a wrong one. */
  | "unauthorized"
  /** From another page, or for another host. */
  | "forbidden"
  | "not_found"
  | "bad_request"
  | "too_large"
  /** The answer came too late: somebody else gave one, or the call is gone. */
  | "settled"
  /** The runtime it is about has ended, or cannot be reached. */
  | "gone"
  /** This inspector was started without it. */
  | "unsupported"
  | "failed";
