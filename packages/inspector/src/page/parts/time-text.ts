// Times and durations as the user reads them.

/** `840 ms`, `3.2 s`, `4 min 05 s`, `2 h 10 min`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${two(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} days`;
}

/** In the time of the reader: today only the time, else the day before it. */
export function momentText(time: number, now: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (dayOf(date) === dayOf(new Date(now))) return clock;
  return `${dayOf(date)} ${clock}`;
}

/** With seconds and milliseconds. */
export function clockText(time: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return `${parts}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/** The day and the time, to the millisecond: of what may be long ago. */
export function instantText(time: number): string {
  const clock = clockText(time);
  return clock === "" ? "" : `${dayOf(new Date(time))} ${clock}`;
}

/** Which time it is that is shown: `UTC`, `UTC+5:30`. */
export function zoneText(now: number): string {
  const minutes = -new Date(now).getTimezoneOffset();
  if (minutes === 0) return "UTC";
  const hours = Math.floor(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  return `UTC${minutes < 0 ? "-" : "+"}${hours}${rest === 0 ? "" : `:${two(rest)}`}`;
}

function dayOf(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
