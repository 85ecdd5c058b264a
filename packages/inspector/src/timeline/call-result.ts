// What came of a call, as its facts tell: its result, what it put aside, what it would do or did.

import {
  isTerminalFact,
  type ArtifactRef,
  type Fact,
  type PermissionRequest,
  type Preview,
  type ToolResult,
} from "@soong/core";
import { dataIn, countIn, listIn, textIn, textsIn, type Data } from "./read-data.ts";

/** Of its first end; what a newer or older version left out of it is empty. */
export function callResult(facts: readonly Fact[]): ToolResult | undefined {
  const terminal = facts.find(({ type }) => isTerminalFact(type));
  if (terminal === undefined) return undefined;
  const result = dataIn(dataIn(terminal.data)["result"]);
  const { metadata } = result;
  return {
    ...(result as unknown as ToolResult),
    tool_call_id: textIn(result, "tool_call_id") ?? terminal.tool_call_id ?? "",
    tool_name: textIn(result, "tool_name") ?? terminal.tool_name ?? "",
    status: (textIn(result, "status") ??
      terminal.type.slice("tool.".length)) as ToolResult["status"],
    is_error: result["is_error"] === true,
    content: listIn(result, "content").filter(isBlock) as ToolResult["content"],
    summary: textIn(result, "summary") ?? "",
    artifacts: listIn(result, "artifacts").filter(isArtifact),
    metadata: dataIn(metadata) as unknown as ToolResult["metadata"],
  };
}

/** What the result refers to, and what was put aside on the way; each once. */
export function callArtifacts(
  facts: readonly Fact[],
  result: ToolResult | undefined,
): ArtifactRef[] {
  const created = facts.flatMap(({ type, data }) => (type === "artifact.created" ? [data] : []));
  const found = new Map<string, ArtifactRef>();
  for (const artifact of [...created, ...(result?.artifacts ?? [])]) {
    if (isArtifact(artifact)) found.set(artifact.artifact_id, refOf(artifact));
  }
  return [...found.values()];
}

/** As a person was shown it; else from what the plan said it would run, or from what it says it changed. */
export function callPreview(
  facts: readonly Fact[],
  request: PermissionRequest | undefined,
  result: ToolResult | undefined,
): Preview | undefined {
  return previewIn(request?.preview) ?? commandIn(facts) ?? diffIn(dataIn(result?.data));
}

function previewIn(value: unknown): Preview | undefined {
  const preview = dataIn(value);
  const kind = textIn(preview, "kind");
  if (kind === "text" && typeof preview["text"] === "string")
    return { kind, text: preview["text"] };
  if (kind === "diff") return diffIn(preview);
  return kind === "command" ? commandOf(preview) : undefined;
}

function commandIn(facts: readonly Fact[]): Preview | undefined {
  const judged = facts.findLast(({ type }) => type === "permission.evaluated");
  const resources = listIn(dataIn(judged?.data), "resources").map(dataIn);
  const command = resources.find((resource) => resource["kind"] === "command");
  return command === undefined ? undefined : commandOf(command);
}

function commandOf(data: Data): Preview | undefined {
  const argv = textsIn(data, "argv");
  const cwd = textIn(data, "cwd");
  return argv.length === 0 || cwd === undefined ? undefined : { kind: "command", argv, cwd };
}

function diffIn(data: Data): Preview | undefined {
  const path = textIn(data, "path");
  const diff = textIn(data, "diff");
  return path === undefined || diff === undefined ? undefined : { kind: "diff", path, diff };
}

function isBlock(value: unknown): boolean {
  return textIn(dataIn(value), "type") !== undefined;
}

function isArtifact(value: unknown): value is ArtifactRef {
  const given = dataIn(value);
  return textIn(given, "artifact_id") !== undefined && countIn(given, "size") !== undefined;
}

function refOf({ artifact_id, media_type, size, sha256, name }: ArtifactRef): ArtifactRef {
  return { artifact_id, media_type, size, sha256, ...(name === undefined ? {} : { name }) };
}
