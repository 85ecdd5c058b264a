// Artifacts in the output of a declared command (DECL-7): content it gives to be kept, or one of this session it
// names. It cannot claim any other.

import { messageOf, type ArtifactRef, type ToolContext } from "@soong/core";
import { isRecord } from "@soong/schema";

export type GivenArtifact =
  | { readonly artifact_id: string }
  | { readonly name: string; readonly media_type: string; readonly bytes: string | Uint8Array };

/** Their records, or what is wrong with one of them, as a clause. */
export async function keepArtifacts(
  given: readonly GivenArtifact[],
  { artifacts }: Pick<ToolContext, "artifacts">,
): Promise<ArtifactRef[] | string> {
  const refs: ArtifactRef[] = [];
  for (const [index, one] of given.entries()) {
    const ref =
      "artifact_id" in one
        ? await artifacts.stat(one.artifact_id)
        : await artifacts.write(one.bytes, { media_type: one.media_type, name: one.name });
    if (ref === undefined) {
      return `artifacts[${index}] is no artifact of this session; to make one, give its "name" and its "text" or "blob" (base64)`;
    }
    refs.push(ref);
  }
  return refs;
}

const KEYS: ReadonlySet<string> = new Set([
  "artifact_id",
  "media_type",
  "size",
  "sha256",
  "name",
  "text",
  "blob",
]);

/** The list, or what is wrong with it, as a clause. */
export function readArtifacts(value: unknown): readonly GivenArtifact[] | string {
  if (!Array.isArray(value)) return "is not a list";
  const given: GivenArtifact[] = [];
  for (const [index, item] of value.entries()) {
    const read = readArtifact(item);
    if (typeof read === "string") return `[${index}] ${read}`;
    given.push(read);
  }
  return given;
}

function readArtifact(item: unknown): GivenArtifact | string {
  if (typeof item === "string") return { artifact_id: item };
  if (!isRecord(item)) return "is not an object";
  const foreign = Object.keys(item).find((key) => !KEYS.has(key));
  if (foreign !== undefined) return `has the unknown key ${JSON.stringify(foreign)}`;
  const { artifact_id, text, blob, name, media_type } = item as Record<string, unknown>;
  if (typeof artifact_id === "string") return { artifact_id };
  const about = {
    name: typeof name === "string" ? name : "artifact",
    media_type: typeof media_type === "string" ? media_type : "text/plain",
  };
  if (typeof text === "string") return { ...about, bytes: text };
  if (typeof blob !== "string") return 'has neither "artifact_id", "text" nor "blob"';
  try {
    return { ...about, bytes: Uint8Array.from(atob(blob), (unit) => unit.charCodeAt(0)) };
  } catch (error) {
    return `has a blob that is not base64: ${messageOf(error)}`;
  }
}
