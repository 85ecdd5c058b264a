// The network under the provider packages, bounded: they hold a line of a stream, and the body of a failure, in memory
// until it has ended. What they pass on is bounded by the reader of the answer.

/** Far more than one event of any provider. */
const LONGEST_LINE = 32 * 1024 * 1024;
/** Enough for any message. */
const LONGEST_FAILURE = 256 * 1024;

export const WEB_PAGE = "SOONG_WEB_PAGE";
export const ANSWER_TOO_LARGE = "SOONG_ANSWER_TOO_LARGE";

export function boundedFetch(ask: typeof fetch = fetch): typeof fetch {
  return async (...request) => {
    const response = await ask(...request);
    const { body, ok, status, statusText, headers } = response;
    if (isWebPage(response)) {
      await body?.cancel();
      throw Object.assign(
        new Error(`${withoutQuery(request[0])} answered with ${status}, text/html`),
        {
          code: WEB_PAGE,
          statusCode: status,
        },
      );
    }
    if (body === null) return response;
    const bounded = body.pipeThrough(ok ? refuseLongLines() : cutAfter(LONGEST_FAILURE));
    return new Response(bounded, { status, statusText, headers });
  };
}

/** A wrong address is mostly one of a site; a proxy that fails has pages of its own, and those pass. */
function isWebPage({ ok, status, headers }: Response): boolean {
  const isPage = headers.get("content-type")?.startsWith("text/html") === true;
  return isPage && (ok || status === 404 || status === 405);
}

/** Without what may be a key. */
function withoutQuery(asked: Parameters<typeof fetch>[0]): string {
  const { origin, pathname } = new URL(asked instanceof Request ? asked.url : asked);
  return `${origin}${pathname}`;
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
