// How facts become records of another standard: one after the other, in the order of the journal.

import type { Fact, FactType } from "@soong/core";
import type { AgentFactPayloads } from "@soong/agent";
import type { McpFactPayloads } from "@soong/mcp";
import type { TaskFactPayloads } from "@soong/tasks";

/**
 * Turns the facts of one session, or of some of its runs, into records of a standard. Takes them in the order of `seq`.
 * Pure: the same facts give the same records. It keeps only what is still open, so memory does not grow with the journal.
 */
export interface Projection<Out> {
  /** The records that this fact completes, in order. */
  push(fact: Fact): readonly Out[];
  /** After the last fact: what was still open. */
  end(): readonly Out[];
}

/** The types of all packages: those that are named here are part of it. */
type AnyFactType = FactType | keyof (AgentFactPayloads & McpFactPayloads & TaskFactPayloads);

/** Why a standard has no record for a fact type. A type that is neither mapped nor on such a list does not compile. */
export type Unmapped<Mapped extends FactType> = Readonly<
  Record<Exclude<AnyFactType, Mapped>, string>
>;
