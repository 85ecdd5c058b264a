// The instruction blocks of a conversation (INSTR-1, INSTR-2): what it begins with and what calls read, each content
// once. They become nodes; nothing of a file is ever read again from disk.

import type { AddedNode, ConversationNode, Places } from "@soong/core";
import { readInstructionBlocks, readInstructions, addContentHash } from "../context/index.ts";

/** As `instructionFiles` of `@soong/tools`, or another source of such texts, gives them. */
export interface InstructionTexts {
  readonly files: readonly {
    readonly origin: "user" | "project";
    readonly path: string;
    readonly text: string;
    /** Of the file, of which the text may be the beginning. */
    readonly bytes: number;
    readonly cut: boolean;
  }[];
  readonly skipped: readonly SkippedInstructions[];
}

export interface SkippedInstructions {
  readonly origin: "user" | "project";
  readonly path: string;
  readonly why: string;
}

/** Receives how secrets are hidden, and which paths the run may not read (PERM-15). */
export type InstructionSource = (
  redact: (text: string) => string,
  places: Places,
) => Promise<InstructionTexts>;

export class InstructionCache {
  /** What the conversation is to begin with; gone once it is loaded. */
  source: InstructionSource | undefined;
  skipped: readonly SkippedInstructions[] = [];
  /** The current content of each file, as its hash. */
  readonly #current = new Map<string, string>();

  constructor(source: InstructionSource | undefined, history: readonly ConversationNode[]) {
    this.source = source;
    for (const { path, sha256 } of readInstructionBlocks(history).blocks) {
      this.#current.set(path ?? sha256, sha256);
    }
  }

  /** Whether the conversation does not have this content yet. From now on it has. */
  add(node: AddedNode): boolean {
    const { path, sha256 } = readInstructions(node);
    if ([...this.#current.values()].includes(sha256)) return false;
    this.#current.set(path ?? sha256, sha256);
    return true;
  }

  /** For the kernel's run: what a call has read, if it is new. */
  admit(node: AddedNode): AddedNode | undefined {
    // The model has it from the result of the call; the node only says whose it is (STORE-2).
    if (node.kind === "child_result") return { ...node, content: [] };
    if (node.kind !== "instruction_context") return node;
    return this.add(node) ? addContentHash(node) : undefined;
  }
}
