// A model's stream on its way to a loop: read no further than the loop does, with each part as a bridge wants it to be.

export interface PartReader<Part> {
  /** What the loop gets instead of the part: any number of them. */
  read(part: Part): readonly Part[] | Promise<readonly Part[]>;
  /** No more parts come: the stream has ended or failed, or the loop cancelled it. */
  close(reason: string): void;
}

export function readStream<Part>(
  stream: ReadableStream<Part>,
  parts: PartReader<Part>,
): ReadableStream<Part> {
  const reader = stream.getReader();
  return new ReadableStream<Part>(
    {
      async pull(controller) {
        try {
          // Without a part, no one would pull again.
          for (let passed: readonly Part[] = []; passed.length === 0;) {
            const { done, value } = await reader.read();
            if (done) {
              parts.close("the answer ended too early");
              return controller.close();
            }
            passed = await parts.read(value);
            for (const part of passed) controller.enqueue(part);
          }
        } catch (error) {
          parts.close("the answer failed");
          throw error;
        }
      },
      cancel(reason) {
        parts.close("the answer was cancelled");
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
