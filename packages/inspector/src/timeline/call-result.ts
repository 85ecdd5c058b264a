// What came of a call, as its facts tell: its result, what it put aside, what it would do or did.

import {
  isTerminalFact,
  type ArtifactRef,
  type Fact,
  type PermissionRequest,
  type Preview,
  type ToolResult,
} from "@soong/core";
import { dataIn, textIn, textsIn, type Data } from "./read-data.ts";

/** Of its first end. */
export function callResult(facts: readonly Fact[]): ToolResult | undefined {
  return facts.find(isTerminalFact)?.data.result;
}

/** What the result refers to, and what was put aside on the way; each once. */
export function callArtifacts(
  facts: readonly Fact[],
  result: ToolResult | undefined,
): ArtifactRef[] {
  const created = facts.flatMap((fact) => (fact.type === "artifact.created" ? [fact.data] : []));
  const found = new Map<string, ArtifactRef>();
  for (const artifact of [...created, ...(result?.artifacts ?? [])]) {
    if (artifact.artifact_id !== "") found.set(artifact.artifact_id, refOf(artifact));
  }
  return [...found.values()];
}

/** As the user was shown it; else from what the plan said it would run, or from what it says it changed. */
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
  const judged = facts.findLast((fact) => fact.type === "permission.evaluated");
  const command = judged?.data.resources.find((resource) => resource.kind === "command");
  return command === undefined ? undefined : commandOf({ ...command });
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

function refOf({ artifact_id, media_type, size, sha256, name }: ArtifactRef): ArtifactRef {
  return { artifact_id, media_type, size, sha256, name };
}
