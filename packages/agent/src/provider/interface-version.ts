// The versions of the AI SDK's model interface we take. They differ only in how pictures, the reason for
// stopping and token counts are written, and in the strict flag; everything else is one code path.

import type { LanguageModelV2, LanguageModelV3 } from "@ai-sdk/provider";

export type AnyLanguageModel = LanguageModelV2 | LanguageModelV3 | LanguageModelV4;

/** What we use of it; spelled out, because the installed types may be older than the installed model. */
export interface LanguageModelV4 {
  readonly specificationVersion: "v4";
  readonly provider: string;
  readonly modelId: string;
  doStream(options: object): PromiseLike<{ readonly stream: ReadableStream }>;
}

export type InterfaceVersion = AnyLanguageModel["specificationVersion"];

const VERSIONS: ReadonlySet<unknown> = new Set<InterfaceVersion>(["v2", "v3", "v4"]);

/** Throws for a model of any other version: that is a mistake in the program, not in a run. */
export function checkInterfaceVersion(model: AnyLanguageModel, id: string): void {
  const version: unknown = model.specificationVersion;
  if (VERSIONS.has(version)) return;
  throw new TypeError(
    `The model ${id} has version ${String(version)} of the AI SDK's model interface; v2, v3 and v4 are taken. Install another version of its provider package.`,
  );
}

/** How a picture goes into a user message and into a tool result. */
export function userImage(version: InterfaceVersion, mediaType: string, data: string) {
  return { type: "file", mediaType, data: version === "v4" ? { type: "data", data } : data };
}

export function resultImage(version: "v2" | "v3", mediaType: string, data: string) {
  return { type: version === "v2" ? "media" : "image-data", mediaType, data };
}
