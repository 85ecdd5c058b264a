// One output stream of a command (CMD-2): its first and last bytes in memory, and all of it in an
// artifact as soon as there is more than a result can show. An artifact that fails costs the rest of the
// output, never the command.

import { messageOf, type ArtifactRef, type ArtifactSink, type ToolContext } from "@soong/core";
import { MARGIN } from "@soong/core/internal";
import { isBinary, type OutputEnds } from "./shown-output.ts";

export interface CapturedOutput {
  readonly name: "stdout" | "stderr";
  readonly bytes: number;
  /** All of it, as long as that is no more than the windows hold. */
  readonly ends: OutputEnds;
  /** Its latest bytes, at least a few thousand of them if there were as many. */
  readonly recent: Buffer;
  /** A pending promise holds the command back until what it wrote has been kept. */
  push(chunk: Buffer): void | Promise<void>;
  /** Closes the artifact; `always`: makes one even of what would fit inline. */
  keep(always: boolean): Promise<KeptOutput>;
  /** Gives up what the artifact has so far. */
  discard(): Promise<void>;
}

export type KeptOutput =
  | { readonly kind: "inline" }
  | { readonly kind: "artifact"; readonly ref: ArtifactRef }
  | { readonly kind: "lost"; readonly why: string };

export function captureOutput(
  name: "stdout" | "stderr",
  context: Pick<ToolContext, "artifacts" | "inlineLimitBytes">,
): CapturedOutput {
  const { inlineLimitBytes } = context;
  // Longer than what is shown, so that no secret is cut in two before it is recognised.
  const window = inlineLimitBytes + MARGIN;
  let bytes = 0;
  let first: Buffer[] = [];
  let firstBytes = 0;
  let last: Buffer[] = [];
  let lastBytes = 0;
  let sink: ArtifactSink | undefined;
  let failure: string | undefined;
  let writing: Promise<void> | undefined;

  return {
    name,
    get bytes() {
      return bytes;
    },
    get ends() {
      const head = Buffer.concat(first);
      if (bytes === firstBytes) return { whole: head };
      const tail = Buffer.concat(last);
      return { first: head, last: tail.subarray(Math.max(0, tail.length - window)) };
    },
    get recent() {
      return Buffer.concat(last);
    },
    push(chunk) {
      const isWritten = failure === undefined && bytes + chunk.length > inlineLimitBytes;
      // What came before the artifact was short enough to be held whole.
      const toWrite = isWritten && sink === undefined ? Buffer.concat([...first, chunk]) : chunk;
      bytes += chunk.length;
      takeFirst(chunk);
      takeLast(chunk);
      if (!isWritten) return undefined;
      writing = write(toWrite);
      return writing;
    },
    async keep(always) {
      await writing;
      if (sink === undefined && failure === undefined && always) await write(Buffer.concat(first));
      try {
        if (sink !== undefined) return { kind: "artifact", ref: await sink.close() };
      } catch (error) {
        failure = messageOf(error);
      }
      return failure === undefined ? { kind: "inline" } : { kind: "lost", why: failure };
    },
    async discard() {
      await writing;
      await discardSink();
    },
  };

  function takeFirst(chunk: Buffer): void {
    if (firstBytes >= window) return;
    // A copy: a small piece must not keep the large buffer alive that it was cut from.
    const part = Buffer.from(chunk.subarray(0, window - firstBytes));
    first.push(part);
    firstBytes += part.length;
    if (first.length > MOST_PIECES) first = [Buffer.concat(first)];
  }

  function takeLast(chunk: Buffer): void {
    last.push(chunk);
    lastBytes += chunk.length;
    for (let oldest = last[0]; oldest !== undefined; oldest = last[0]) {
      if (lastBytes - oldest.length < window) break;
      last.shift();
      lastBytes -= oldest.length;
    }
    if (last.length > MOST_PIECES) last = [Buffer.concat(last)];
  }

  async function write(chunk: Buffer): Promise<void> {
    try {
      sink ??= context.artifacts.open(
        isBinary(chunk)
          ? { media_type: "application/octet-stream", name: `${name}.bin` }
          : { media_type: "text/plain", name: `${name}.txt` },
      );
      await sink.write(chunk);
    } catch (error) {
      failure = messageOf(error);
      await discardSink();
    }
  }

  async function discardSink(): Promise<void> {
    try {
      await sink?.discard();
    } catch {
      // Nothing was kept, which is all there is to say.
    }
    sink = undefined;
  }
}

const MOST_PIECES = 1024;
