// The network under the provider packages, bounded: they hold a line of a stream, and the body of a failure, in memory
// until it has ended. What they hand on is bounded by whoever reads the answer.

/** Far more than one event of any provider. */
const LONGEST_LINE = 32 * 1024 * 1024;
/** Enough for any message. */
const LONGEST_FAILURE = 256 * 1024;

export const ANSWER_TOO_LARGE = "SOONG_ANSWER_TOO_LARGE";

export function boundedFetch(ask: typeof fetch = fetch): typeof fetch {
  return async (...request) => {
    const response = await ask(...request);
    const { body, ok, status, statusText, headers } = response;
    if (body === null) return response;
    const bounded = body.pipeThrough(ok ? refuseLongLines() : cutAfter(LONGEST_FAILURE));
    return new Response(bounded, { status, statusText, headers });
  };
}

function refuseLongLines(): TransformStream<Uint8Array, Uint8Array> {
  let sinceLineBreak = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const last = chunk.lastIndexOf(LINE_FEED);
      sinceLineBreak = last === -1 ? sinceLineBreak + chunk.length : chunk.length - last - 1;
      if (sinceLineBreak > LONGEST_LINE) {
        const message = `the provider sent more than ${LONGEST_LINE} bytes without a line break`;
        controller.error(Object.assign(new Error(message), { code: ANSWER_TOO_LARGE }));
      } else controller.enqueue(chunk);
    },
  });
}

const LINE_FEED = 10;

function cutAfter(bytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = bytes;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.terminate();
    },
  });
}
