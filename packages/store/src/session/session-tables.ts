// What the writer of a session asks its tables for.

import type { ArtifactRecord, TextMeasures } from "@soong/core";
import type { ConversationTree, DerivedTables } from "./derived-rows.ts";
import type { Steps } from "../sql/sql.ts";
import type { Batch } from "./write-rows.ts";

/** What is in the tables already, asked for when it is needed. */
export interface SessionTables extends ConversationTree, DerivedTables {
  artifact(artifact_id: string): ArtifactRecord | undefined;
  /** One with that content. */
  artifactWith(content: TextMeasures): ArtifactRecord | undefined;
  /** The session that has a run of this id, if it is another one. */
  ownerOfRun(run_id: string): string | undefined;
  /** So that `childOf` knows what is below these nodes. Absent where it asks itself. */
  loadBelow?(node_ids: readonly string[]): Steps<void>;
  /** They are not asked again for what is kept here. */
  committed?(batch: Batch): void;
}
