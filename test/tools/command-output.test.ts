import { createHash } from "node:crypto";
import { createMemoryArtifacts, type ArtifactStore } from "@soong/core";
import { afterEach, expect, test } from "vitest";
import { verifies } from "#laws";
import { dataOf, openStage, textOf, type Stage, type StageOptions } from "./command-stage.ts";

let stage: Stage | undefined;
afterEach(() => stage?.close());

async function open(options: StageOptions = {}): Promise<Stage> {
  stage = await openStage(options);
  return stage;
}

const INLINE_BYTES = 64 * 1024;

test("more than fits is head and tail for the model, and every byte in an artifact", async () => {
  verifies("CMD-2");
  const artifacts = createMemoryArtifacts();
  const { command } = await open({ session: { artifacts } });
  const numbers = Array.from({ length: 300_000 }, (_, index) => `${index + 1}\n`).join("");
  const result = await command(["seq", "300000"]);
  const { stdout } = dataOf(result) as { stdout: Stream };
  expect(stdout).toMatchObject({ bytes: numbers.length, truncated: true });
  expect(textOf(result).startsWith("1\n2\n3\n")).toBe(true);
  expect(textOf(result)).toContain("\n299999\n300000");
  expect(textOf(result)).toContain(`of ${numbers.length} bytes`);
  expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(INLINE_BYTES);
  expect(Buffer.byteLength(textOf(result))).toBeGreaterThan(INLINE_BYTES / 2);
  expect(result.artifacts).toHaveLength(1);
  expect(result.artifacts[0]).toMatchObject({
    artifact_id: stdout.artifact_id,
    media_type: "text/plain",
    name: "stdout.txt",
    size: numbers.length,
    sha256: createHash("sha256").update(numbers).digest("hex"),
  });
  expect(result.content.filter(({ type }) => type === "artifact_ref")).toHaveLength(1);
  expect(result.metadata.truncation).toBeUndefined();
  expect(sizesOfCalls(artifacts)).toHaveLength(1);
});

test("both streams have space, and each its own artifact", async () => {
  verifies("CMD-2");
  const { command } = await open();
  const result = await command(["bash", "-c", "seq 100000; seq 200000 300000 >&2; exit 7"]);
  const { stdout, stderr } = dataOf(result) as { stdout: Stream; stderr: Stream };
  expect(stdout.truncated && stderr.truncated).toBe(true);
  expect(stdout.artifact_id).not.toBe(stderr.artifact_id);
  expect(result.artifacts.map(({ name }) => name)).toEqual(["stdout.txt", "stderr.txt"]);
  const [, ofStderr = ""] = textOf(result).split("stderr:\n");
  expect(ofStderr.startsWith("200000\n")).toBe(true);
  expect(ofStderr).toContain("\n300000");
  expect(result.error?.message).toContain("exit code 7");
  expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(INLINE_BYTES);
});

test("two streams that each fit, but not together, are kept whole as well", async () => {
  verifies("CMD-2");
  const artifacts = createMemoryArtifacts();
  const { command } = await open({ session: { artifacts } });
  const script = "head -c 50000 /dev/zero | tr '\\0' a; head -c 50000 /dev/zero | tr '\\0' b >&2";
  const result = await command(["bash", "-c", script]);
  expect(dataOf(result)).toMatchObject({
    stdout: { bytes: 50_000, truncated: true },
    stderr: { bytes: 50_000, truncated: true },
  });
  expect(sizesOfCalls(artifacts)).toEqual([50_000, 50_000]);
  expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(INLINE_BYTES);
});

test("a short stream leaves its space to the other", async () => {
  verifies("CMD-2");
  const { command } = await open();
  const result = await command(["bash", "-c", "head -c 55000 /dev/zero | tr '\\0' a; echo e >&2"]);
  expect(dataOf(result)).toMatchObject({
    stdout: { truncated: false },
    stderr: { truncated: false },
  });
  expect(textOf(result)).toBe(`${"a".repeat(55_000)}\nstderr:\ne`);
});

test("a small bound is kept, too", async () => {
  verifies("CMD-2");
  const { command } = await open({ config: { tools: { inline_limit_bytes: 2000 } } });
  const result = await command(["bash", "-c", "seq 2000; seq 2000 >&2"]);
  expect(textOf(result).length).toBeLessThanOrEqual(2000);
  expect(result.artifacts.length).toBeGreaterThanOrEqual(2);
});

test("bytes that are no text are an artifact of their own kind", async () => {
  verifies("CMD-2");
  const { command } = await open();
  const result = await command(["head", "-c", "2000", process.execPath]);
  expect(textOf(result)).toContain("(2000 bytes that are not text)");
  expect(result.artifacts[0]).toMatchObject({ media_type: "application/octet-stream", size: 2000 });
});

test("a store that fails costs the rest of the output, not the command", async () => {
  verifies("CMD-2");
  const artifacts: ArtifactStore = {
    ...createMemoryArtifacts(),
    open: () => ({
      write: () => Promise.reject(new Error("no room on the disk")),
      close: () => Promise.reject(new Error("no room on the disk")),
      discard: async () => undefined,
    }),
  };
  const { command } = await open({ session: { artifacts } });
  const result = await command(["bash", "-c", "seq 100000; echo done >&2"]);
  expect(result.status).toBe("succeeded");
  expect(result.artifacts).toEqual([]);
  expect(textOf(result)).toContain("\n100000\nstderr:\ndone");
  expect(textOf(result)).toContain("(The rest of stdout could not be kept: no room on the disk)");
});

test("a slow store holds the command back, and loses nothing", async () => {
  verifies("CMD-2");
  const store = createMemoryArtifacts();
  let most = 0;
  let waiting = 0;
  const artifacts: ArtifactStore = {
    ...store,
    open(about) {
      const sink = store.open(about);
      return {
        ...sink,
        async write(bytes) {
          waiting += bytes.length;
          most = Math.max(most, waiting);
          await new Promise((resolve) => {
            setImmediate(resolve);
          });
          waiting -= bytes.length;
          await sink.write(bytes);
        },
      };
    },
  };
  const { command } = await open({ session: { artifacts } });
  const result = await command(["head", "-c", "20000000", "/dev/zero"]);
  expect(result.artifacts[0]?.size).toBe(20_000_000);
  expect(most).toBeLessThan(1_000_000);
});

test("a secret is hidden wherever the output is cut", async () => {
  verifies("CMD-2", "REDACT-1");
  const secret = "swordfish-0123456789-abcdefghij";
  const { command } = await open({
    session: { secrets: [{ name: "PASSWORD", value: secret }] },
    tool: () => ({ env: { PASSWORD: secret } }),
    config: { tools: { inline_limit_bytes: 8192 } },
  });
  const script = 'for i in $(seq 20000); do printf "%s" "$PASSWORD"; done';
  const shown = await command(["bash", "-c", script]);
  for (let at = 0; at + 10 <= secret.length; at += 1) {
    expect(JSON.stringify(shown.content)).not.toContain(secret.slice(at, at + 10));
  }
});

interface Stream {
  bytes: number;
  truncated: boolean;
  artifact_id?: string;
}

/** The run keeps its definitions there as well. */
function sizesOfCalls(artifacts: ReturnType<typeof createMemoryArtifacts>): number[] {
  return artifacts
    .list()
    .flatMap(({ tool_call_id, size }) => (tool_call_id === undefined ? [] : [size]));
}
