// What was sent to a model, put together again from the record and held against its digest (MODEL-7). Pure: the caller
// reads what `findSentParts` names.

import { createHash } from "node:crypto";
import type { ConversationNode, FactData, ModelTool } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import {
  ContextBook,
  digestRequest,
  MessageList,
  snapshotMessages,
  type ContextUnit,
} from "../context/index.ts";
import type { ModelMessage, ModelRequest } from "../model/index.ts";
import { deriveContext } from "./context-record.ts";
import type { SentTexts } from "./keep-request.ts";

type ContextData = FactData<"context.resolved">;

export interface RecordedRequest {
  readonly run_id: string;
  readonly started: FactData<"model.started">;
  /** The `context.resolved` of its run, in order, up to that of this request at least. */
  readonly contexts: readonly ContextData[];
}

/** What a request is made of. */
export interface SentParts {
  readonly sent: SentTexts;
  /** The last node of its conversation; undefined where it has none. */
  readonly node_id: string | undefined;
  /** The units it had, counted from the end; a summary before them was sent, too. */
  readonly units: number;
  readonly hasBoard: boolean;
  readonly hasSystem: boolean;
  readonly hasTools: boolean;
}

/** Undefined: an older version recorded it, which kept no such thing. */
export function findSentParts({ started, contexts }: RecordedRequest): SentParts | undefined {
  const { digest, sent, request, parent_node_id } = started;
  if (digest === undefined) return undefined;
  if (sent !== undefined) {
    const { system, tools } = sent;
    const has = { hasSystem: system !== undefined, hasTools: tools !== undefined, hasBoard: false };
    return { sent, node_id: undefined, units: 0, ...has };
  }
  const at = contexts.findLastIndex((one) => one.request === request);
  const context = at === -1 ? undefined : deriveContext(contexts, at);
  if (context?.sent === undefined) return undefined;
  return {
    sent: context.sent,
    node_id: parent_node_id,
    units: context.history.units,
    hasBoard: context.board.chars > 0,
    hasSystem: context.system.length > 0,
    hasTools: context.tools.loaded > 0,
  };
}

export interface SentContents {
  /** By artifact: the parsed JSON. */
  readonly texts: ReadonlyMap<string, unknown>;
  /** From the root to `node_id`. */
  readonly path: readonly ConversationNode[];
}

export type RebuiltRequest =
  /** `isExact`: it has the digest of what was sent. */
  | { readonly request: ModelRequest; readonly isExact: boolean }
  /** Why it cannot be put together, as a sentence. */
  | { readonly problem: string };

export function rebuildRequest(
  recorded: RecordedRequest,
  parts: SentParts,
  { texts, path }: SentContents,
): RebuiltRequest {
  const { run_id, started } = recorded;
  const { sent, hasBoard, hasSystem, hasTools } = parts;
  const missing: string[] = [];
  const read = <T>(what: string, artifact_id: string | undefined, empty: T): T => {
    const value = artifact_id === undefined ? undefined : texts.get(artifact_id);
    const isFit = typeof value === typeof empty && Array.isArray(value) === Array.isArray(empty);
    if (!isFit) missing.push(what);
    return (value ?? empty) as T;
  };
  const system = hasSystem ? read<readonly string[]>("system texts", sent.system, []) : [];
  const tools = hasTools ? read<readonly ModelTool[]>("tools", sent.tools, []) : [];
  const board = hasBoard ? read("board", sent.board, "") : "";
  const note = sent.note === undefined ? undefined : read("note", sent.note, "");
  const messages =
    sent.messages === undefined
      ? rebuildMessages(path, parts.units, started.model, { note, board })
      : read<readonly ModelMessage[]>("messages", sent.messages, []);
  if (missing.length > 0) {
    return { problem: `Not on record of this request: ${missing.join(", ")}.` };
  }
  const { agent_definition_id, max_output_tokens } = sent;
  const named = omitUndefined({ run_id, agent_definition_id, max_output_tokens });
  const request = { index: started.request, ...named, system, messages, tools };
  const [system_sha256, tools_sha256] = [hashJson(system), hashJson(tools)];
  const head = { ...request, system_sha256, tools_sha256 };
  const isExact = digestRequest(head, new MessageList(messages)) === started.digest;
  return { request, isExact };
}

function rebuildMessages(
  path: readonly ConversationNode[],
  units: number,
  model: string,
  { note, board }: { readonly note: string | undefined; readonly board: string },
): readonly ModelMessage[] {
  const all = new ContextBook(path).units;
  const messages = snapshotMessages(keepLast(all, units), model, { note });
  messages.addText(board);
  return messages.toArray();
}

/** As `planContext` omits them: from the front, and never a summary. */
function keepLast(all: readonly ContextUnit[], count: number): readonly ContextUnit[] {
  let excess = all.length - count;
  return all.filter(({ kind }) => {
    const isOmitted = excess > 0 && kind !== "summary";
    if (isOmitted) excess -= 1;
    return !isOmitted;
  });
}

function hashJson(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/** The part of a store's session reader that is needed. */
export interface SentReader {
  path(node_id: string): Promise<readonly ConversationNode[]>;
  readArtifact(artifact_id: string): Promise<Uint8Array | undefined>;
}

/** Undefined: an older version recorded it, which kept no such thing. */
export async function readSentRequest(
  reader: SentReader,
  recorded: RecordedRequest,
): Promise<RebuiltRequest | undefined> {
  const parts = findSentParts(recorded);
  if (parts === undefined) return undefined;
  const { system, tools, board, note, messages } = parts.sent;
  const texts = new Map<string, unknown>();
  for (const artifact_id of [system, tools, board, note, messages]) {
    if (artifact_id === undefined) continue;
    const bytes = await reader.readArtifact(artifact_id).catch(() => undefined);
    if (bytes !== undefined) texts.set(artifact_id, parseJson(new TextDecoder().decode(bytes)));
  }
  const path = parts.node_id === undefined ? [] : await reader.path(parts.node_id);
  return rebuildRequest(recorded, parts, { texts, path });
}

/** Undefined for what is none. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
