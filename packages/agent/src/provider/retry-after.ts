// When a provider wishes to be asked again: milliseconds, seconds or a date in its headers, or the delay in
// the body of Google's errors.

export interface RetryHint {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
}

/** Undefined when nothing usable is said. `now` counts only where the answer carries no date of its own. */
export function retryAfterMs({ headers, body }: RetryHint, now: number): number | undefined {
  return (
    milliseconds(headers["retry-after-ms"], 1) ??
    milliseconds(headers["retry-after"], 1000) ??
    untilDate(headers["retry-after"], headers["date"], now) ??
    milliseconds(RETRY_DELAY.exec(body ?? "")?.[1], 1000)
  );
}

const RETRY_DELAY = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/;

function milliseconds(text: string | undefined, unit: number): number | undefined {
  if (text === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  const amount = Math.ceil(Number(text) * unit);
  return Number.isSafeInteger(amount) ? amount : undefined;
}

/** Measured from the server's own clock where it sends the time, so that a wrong clock here does no harm. */
function untilDate(text: string | undefined, sent: string | undefined, now: number) {
  // Only dates as headers write them: the parser takes bare numbers for years.
  const at = text?.trimEnd().endsWith("GMT") === true ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  const from = Date.parse(sent ?? "");
  return Math.max(0, at - (Number.isNaN(from) ? now : from));
}
