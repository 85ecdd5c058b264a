// The laws as data: laws.json at the root, typed.

import manifest from "../../laws.json" with { type: "json" };

export interface Law {
  readonly id: string;
  /** The law in one sentence of our own. */
  readonly sentence: string;
  /** Where it comes from: seed documents S0 to S4, `+` for what goes beyond them, or the specification itself. */
  readonly source: string;
  /**
   * `done` is a promise the test command holds us to, `partly` the same for all but what `missing` says;
   * `open` promises nothing yet.
   */
  readonly status: "done" | "partly" | "open";
  readonly missing?: string;
}

export const laws = manifest as readonly Law[];
