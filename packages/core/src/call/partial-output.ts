// What a handler has put out so far (PIPE-7): head and tail in memory, and, once that is not all of it
// any more, the whole in an artifact that is written as it comes. Given up when the call ends by itself.

import type { Redactor } from "../journal/index.ts";
import { joinedPreview, MARGIN } from "../result/index.ts";
import type { ArtifactSink, ArtifactWriter, ContentBlock } from "../tool/index.ts";

const MAX_INLINE_CHARS = 64 * 1024;

export interface PartialOutput {
  push(chunk: string): void;
  /** The output of a call that was cut short; its artifact, if any, is finished by then. */
  keep(): Promise<ContentBlock[]>;
  discard(): void;
}

const END_CHARS = MAX_INLINE_CHARS / 2 + MARGIN;

export function createPartialOutput(
  redactor: Redactor,
  artifacts: () => ArtifactWriter,
): PartialOutput {
  let head = "";
  let tail = "";
  let held: string[] = [];
  let chars = 0;
  let sink: ArtifactSink | undefined;
  /** One write at a time; what comes meanwhile goes together into the next. */
  let writing: Promise<void> | undefined;
  let broken = false;

  return {
    push(chunk) {
      keepEnds(chunk);
      chars += chunk.length;
      if (broken) return;
      held.push(chunk);
      if (chars <= MAX_INLINE_CHARS) return;
      sink ??= artifacts().open({ media_type: "text/plain", name: "output.txt" });
      writing ??= writeHeld(sink);
    },
    async keep() {
      const content: ContentBlock[] = [{ type: "text", text: preview() }];
      try {
        await writing;
        // The preview is what is left of output that could not be kept.
        if (!broken) await sink?.close();
      } catch {
        // Then there is no artifact.
      }
      return content;
    },
    discard() {
      const opened = sink;
      held = [];
      if (opened !== undefined) void discardSink(opened);
    },
  };

  function keepEnds(chunk: string): void {
    if (head.length < END_CHARS) head += chunk.slice(0, END_CHARS - head.length);
    // Cut only when it is longer than whatever is shown whole.
    tail += chunk;
    if (tail.length > 4 * END_CHARS) tail = tail.slice(-END_CHARS);
  }

  function preview(): string {
    if (chars <= MAX_INLINE_CHARS) return redactor.text(tail);
    return joinedPreview(redactor, head, tail.slice(-END_CHARS), MAX_INLINE_CHARS, chars);
  }

  async function writeHeld(to: ArtifactSink): Promise<void> {
    try {
      while (held.length > 0) {
        const text = held.join("");
        held = [];
        await to.write(text);
      }
    } catch {
      broken = true;
      held = [];
    } finally {
      writing = undefined;
    }
  }

  async function discardSink(opened: ArtifactSink): Promise<void> {
    try {
      await writing;
      await opened.discard();
    } catch {
      // There is nothing left to keep, and nobody to tell.
    }
  }
}
