import { createMemoryArtifacts } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { answered } from "../../../../test/mcp/call-stage.ts";

describe("content", () => {
  const png = Buffer.from("89504e470d0a1a0a", "hex").toString("base64");

  test("an image a model takes stays a block; audio, other images and blobs are artifacts", async () => {
    verifies("MCP-4");
    const { result, artifacts } = await answered({
      content: [
        { type: "image", data: `${png.slice(0, 4)}\n${png.slice(4)}`, mimeType: "image/png" },
        { type: "audio", data: "AAEC", mimeType: "audio/wav; codecs=1" },
        { type: "image", data: "PHN2Zy8+", mimeType: "image/svg+xml" },
        {
          type: "resource",
          resource: { uri: "file:///a.bin", blob: "AQID", mimeType: "application/zip" },
        },
        {
          type: "resource",
          resource: { uri: "file:///a.txt", text: "inside", mimeType: "text/plain" },
        },
        {
          type: "resource_link",
          uri: "git://b",
          name: "b",
          description: "a branch",
          mimeType: "text/x-diff",
        },
      ],
    });
    expect(result.content).toMatchObject([
      { type: "image", media_type: "image/png", data: png },
      { type: "audio", media_type: "audio/wav", data: "AAEC" },
      { type: "artifact_ref", media_type: "image/svg+xml", size: 6 },
      { type: "resource", uri: "file:///a.bin", media_type: "application/zip" },
      { type: "resource", uri: "file:///a.txt", media_type: "text/plain", text: "inside" },
      {
        type: "resource_link",
        uri: "git://b",
        name: "b",
        description: "a branch",
        media_type: "text/x-diff",
      },
    ]);
    const svg = await artifacts.read(result.artifacts[0]!.artifact_id, { offset: 0, length: 10 });
    expect(Buffer.from(svg!).toString()).toBe("<svg/>");
  });

  test("sound and resources too large for a conversation are artifacts, and where they are from is said", async () => {
    const data = Buffer.alloc(786_433, 7).toString("base64");
    const blob = { uri: "file:///a.bin", blob: data, mimeType: "application/zip" };
    const { result } = await answered({
      content: [
        { type: "audio", data, mimeType: "audio/wav" },
        { type: "resource", resource: blob, annotations: { priority: 1 } },
        { type: "resource", resource: { uri: "file:///a.bin", blob: "%%" } },
        { type: "resource", resource: { uri: "file:///a.bin" } },
        { type: "resource", resource: { uri: "file:///e", blob: data.slice(0, 1_048_576) } },
      ],
    });
    expect(result.content).toMatchObject([
      { type: "artifact_ref", media_type: "audio/wav", size: 786_433 },
      { type: "resource_link", uri: "file:///a.bin" },
      { type: "artifact_ref", media_type: "application/zip", size: 786_433 },
      { type: "resource_link", uri: "file:///a.bin" },
      { type: "artifact_ref", media_type: "text/plain" },
      { type: "text", text: expect.stringContaining("not base64") as string },
      { type: "resource_link", uri: "file:///a.bin" },
      { type: "resource", uri: "file:///e" },
    ]);
    expect(result.metadata.tool?.["content_meta"]).toEqual([
      { block: 1, type: "resource_link", annotations: { priority: 1 } },
    ]);
  });

  test("what a block has beside its content is kept with its place and type", async () => {
    const { result } = await answered({
      content: [
        { type: "text", text: "a", annotations: { priority: 0.5 }, block: 9 },
        { type: "text", text: "b" },
        {
          type: "resource",
          resource: { uri: "file:///r", text: "t", _meta: { inner: 1 } },
          _meta: { outer: 2 },
        },
        { type: "resource_link", uri: "file:///l", name: "l", title: "L", size: 3 },
        { type: "video", _meta: { x: 1 } },
      ],
    });
    expect(result.metadata.tool?.["content_meta"]).toEqual([
      { block: 0, type: "text", annotations: { priority: 0.5 } },
      { block: 2, type: "resource", _meta: { outer: 2 }, resource: { _meta: { inner: 1 } } },
      { block: 3, type: "resource_link", title: "L", size: 3 },
    ]);
  });

  test("an image of 50 MB is an artifact", async () => {
    const data = Buffer.alloc(50 * 1024 * 1024, 7).toString("base64");
    const { result } = await answered({
      content: [{ type: "image", data, mimeType: "image/png" }],
    });
    expect(result.content).toMatchObject([{ type: "artifact_ref", size: 50 * 1024 * 1024 }]);
  });

  test.each(["%%%", "AAE", "A", "AA=A", "=AAA", "A===", ""])(
    "data that is not a picture in base64 is kept and said: %j",
    async (data) => {
      const { result } = await answered({
        content: [{ type: "image", data, mimeType: "image/png" }],
      });
      expect(result.status).toBe("succeeded");
      expect(result.content[0]).toMatchObject(
        data === "AAE" ? { type: "image", data: "AAE=" } : { type: "artifact_ref" },
      );
    },
  );

  test("a media type that is none of its kind is bytes", async () => {
    const { result } = await answered({
      content: [
        { type: "audio", data: "AAEC", mimeType: "image/png" },
        { type: "image", data: png, mimeType: "text/html\nX: y" },
        { type: "image", data: png },
      ],
    });
    expect(result.artifacts.map(({ media_type }) => media_type)).toEqual(
      Array.from({ length: 3 }, () => "application/octet-stream"),
    );
  });

  test("unknown blocks are kept as they came", async () => {
    const odd = [
      7,
      null,
      { type: "video", data: "AA" },
      { type: "text" },
      { type: "resource", resource: {} },
    ];
    const { result } = await answered({ content: odd });
    expect(result.content.map((block) => block.type)).toEqual(odd.map(() => "json"));
    expect(result.content[2]).toEqual({ type: "json", json: odd[2] });
  });

  test("a thousand blocks are five hundred and an artifact with the rest", async () => {
    const content = Array.from({ length: 1_000 }, (_, i) => ({ type: "text", text: `${i}` }));
    const { result, artifacts } = await answered({ content });
    const rest = await artifacts.read(result.artifacts[0]!.artifact_id, { offset: 0, length: 1e6 });
    expect(JSON.parse(Buffer.from(rest!).toString())).toEqual(content.slice(500));
    expect(result.content).toHaveLength(502);
  });

  test("what cannot be kept does not cost the rest of the answer", async () => {
    const artifacts = createMemoryArtifacts();
    const broken = { ...artifacts, write: () => Promise.reject(new Error("disk full")) };
    const { result } = await answered(
      {
        content: [
          { type: "image", data: "AAEC", mimeType: "image/svg+xml" },
          { type: "text", text: "after" },
        ],
      },
      { session: { artifacts: broken } },
    );
    expect(result.status).toBe("succeeded");
    expect(result.content).toEqual([
      { type: "text", text: "(image, image/svg+xml, could not be kept: disk full)" },
      { type: "text", text: "after" },
    ]);
  });
});
