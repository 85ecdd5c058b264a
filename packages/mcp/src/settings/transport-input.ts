// What the readers of one entry have in hand: its keys, and where to tell of what is wrong with them.

import type { Node } from "jsonc-parser";
import type { EntryKey } from "./entry-keys.ts";
import type { Filler } from "./fill-variables.ts";
import type { Finding } from "./json-document.ts";
import type { ValueReader } from "./read-values.ts";

export interface TransportInput {
  /** Where the entry as a whole stands. */
  readonly offset: number;
  readonly key: string;
  readonly given: ReadonlyMap<EntryKey, Node>;
  readonly read: ValueReader;
  readonly filler: Filler;
  readonly refuse: (finding: Finding) => void;
  readonly warn: (finding: Finding) => void;
}
