// Sound and embedded resources among the blocks of a result (RESULT-2, RESULT-6, REDACT-1): kept as they are,
// bounded by what they are, and their text treated as any text.

import { toolResult, viewsOf, type ContentBlock } from "@soong/core";
import { isMediaBlock } from "@soong/core/internal";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { createWorld, reader } from "./world.ts";

const KIB = 1024;
const TOKEN = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;

async function result(...content: ContentBlock[]) {
  const handler = () => toolResult({ content });
  const world = await createWorld({ tools: [reader("a.tool", 0, { handler })] });
  const [ended] = await world.execute({ name: "a.tool", arguments: {} });
  const read = (artifact_id: string) =>
    world.artifacts.read(artifact_id, { offset: 0, length: 1e9 });
  return { ended: ended!, read };
}

const wav: ContentBlock = { type: "audio", media_type: "audio/wav", data: "UklGRg==" };
const zip: ContentBlock = {
  type: "resource",
  uri: "file:///a.zip",
  media_type: "application/zip",
  blob: "UEsDBA==",
};
const note: ContentBlock = { type: "resource", uri: "file:///a.txt", text: "inside" };

describe("sound and embedded resources", () => {
  test("are blocks of a result, as they came, and a model reads what they are", async () => {
    verifies("RESULT-2", "RESULT-5");
    const { ended } = await result(wav, zip, note);
    expect(ended.content).toEqual([wav, zip, note]);
    expect(viewsOf(ended).person).toBe(
      "[audio audio/wav]\n[resource: file:///a.zip, application/zip]\n[resource: file:///a.txt]\ninside",
    );
    expect(ended.content.map(isMediaBlock)).toEqual([true, true, false]);
  });

  test.each<[string, object]>([
    ["audio without data", { type: "audio", media_type: "audio/wav" }],
    ["audio without a type", { type: "audio", data: "UklGRg==" }],
    ["a resource without a uri", { type: "resource", text: "x" }],
    ["a resource with nothing in it", { type: "resource", uri: "file:///a" }],
    ["a resource with both", { type: "resource", uri: "file:///a", text: "x", blob: "eA==" }],
    ["a resource whose text is none", { type: "resource", uri: "file:///a", text: 7 }],
  ])("%s is no block", async (_, block) => {
    verifies("RESULT-2");
    const { ended } = await result(block as ContentBlock);
    expect(ended).toMatchObject({ status: "failed", error: { code: "result_not_json" } });
  });

  test("secrets in the text and the address go, and bytes stay whole", async () => {
    verifies("REDACT-1");
    const hidden = btoa(TOKEN);
    const { ended } = await result(
      { type: "resource", uri: `https://x/${TOKEN}`, media_type: "text/plain", text: TOKEN },
      { type: "resource", uri: `https://x/${TOKEN}`, blob: hidden },
      { type: "audio", media_type: "audio/wav", data: hidden },
    );
    expect(JSON.stringify(ended)).not.toContain(TOKEN);
    expect(ended.content).toMatchObject([
      { type: "resource", media_type: "text/plain" },
      { type: "resource", blob: hidden },
      { type: "audio", data: hidden },
    ]);
    expect(ended.metadata.redactions).toBe(3);
  });

  test("long text of a resource is cut as any text, with all of it in an artifact", async () => {
    verifies("RESULT-6");
    const text = "a line of the file\n".repeat(10_000);
    const { ended, read } = await result({ type: "resource", uri: "file:///a.txt", text }, wav);
    expect(ended.content).toMatchObject([{ type: "text" }, { type: "artifact_ref" }, wav]);
    const kept = new TextDecoder().decode(await read(ended.artifacts[0]!.artifact_id));
    expect(JSON.parse(kept)).toEqual([{ type: "resource", uri: "file:///a.txt", text }]);
  });

  test("bytes no conversation takes are artifacts, and where they are from is still said", async () => {
    verifies("RESULT-6");
    const data = "QUJD".repeat(1.5 * KIB * KIB);
    const { ended, read } = await result(
      { type: "audio", media_type: "audio/wav", data },
      { type: "resource", uri: "file:///big.bin", media_type: "application/x-big", blob: data },
      { type: "resource", uri: "file:///plain.bin", blob: data },
    );
    expect(ended.content).toMatchObject([
      { type: "artifact_ref", media_type: "audio/wav;base64", name: "audio" },
      { type: "resource_link", uri: "file:///big.bin", media_type: "application/x-big" },
      { type: "artifact_ref", media_type: "application/x-big;base64", name: "resource" },
      { type: "resource_link", uri: "file:///plain.bin" },
      { type: "artifact_ref", media_type: "application/octet-stream;base64" },
    ]);
    expect(await read(ended.artifacts[0]!.artifact_id)).toHaveLength(data.length);
    expect(JSON.stringify(ended).length).toBeLessThan(4 * KIB);
  });
});
