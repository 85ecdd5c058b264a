// What those who answer requests share.

import type { About, Changes } from "../wire/index.ts";
import type { ChangesAsked } from "./changes.ts";
import type { HomeStore } from "./home-store.ts";
import type { InspectorPorts } from "./ports.ts";
import type { Redact } from "./safe-cut.ts";
import type { SessionIndexes } from "./session-indexes.ts";

export interface HandlerParts {
  readonly about: Omit<About, "can">;
  readonly ports: InspectorPorts;
  readonly store: HomeStore;
  readonly indexes: SessionIndexes;
  readonly changes: (asked: ChangesAsked) => Promise<Changes>;
  readonly redact: Redact;
}
