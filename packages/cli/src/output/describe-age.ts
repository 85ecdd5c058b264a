// How long ago something was, in words.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `time`: an ISO date. What is older than four weeks has its date. */
export function describeAge(time: string, now: number): string {
  const ms = now - Date.parse(time);
  if (Number.isNaN(ms)) return "at an unknown time";
  if (ms < MINUTE) return "just now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`;
  const days = Math.floor(ms / DAY);
  if (days === 1) return "yesterday";
  return days <= 28 ? `${days} days ago` : time.slice(0, 10);
}
