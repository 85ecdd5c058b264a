// Times and durations as the user reads them, and hooks that depend on the time.

import { useEffect, useRef, useState } from "preact/hooks";

/** `840 ms`, `3.2 s`, `4 min 05 s`, `2 h 10 min`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${two(minutes % 60)} min` : `${Math.floor(hours / 24)} days`;
}

/** In the time of the reader: today only the time, else the day before it. */
export function momentText(time: number, now: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return writeDay(date) === writeDay(new Date(now)) ? clock : `${writeDay(date)} ${clock}`;
}

/** Of a time on record, as of now. */
export function recordedMoment(time: string | undefined): string {
  return momentText(Date.parse(time ?? ""), Date.now());
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in few letters: `now`, `4 min`, `3 h`, `2 days`, then the day. */
export function ageText(time: number, now: number): string {
  const ms = now - time;
  if (Number.isNaN(ms)) return "";
  if (ms < MINUTE) return "now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  const days = Math.floor(ms / DAY);
  if (days > 28) return writeDay(new Date(time));
  return days === 1 ? "1 day" : `${days} days`;
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
  return clock === "" ? "" : `${writeDay(new Date(time))} ${clock}`;
}

/** Which time it is that is shown: `UTC`, `UTC+5:30`. */
export function zoneText(now: number): string {
  const minutes = -new Date(now).getTimezoneOffset();
  if (minutes === 0) return "UTC";
  const hours = Math.floor(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  return `UTC${minutes < 0 ? "-" : "+"}${hours}${rest === 0 ? "" : `:${two(rest)}`}`;
}

function writeDay(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** The time, read again at this interval; undefined: not any more. */
export function useClock(everyMs: number | undefined): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (everyMs === undefined) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** The time while something runs, at the pace of an animation; `otherwise` when nothing does. */
export function useNow(isRunning: boolean, otherwise: number): number {
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const now = useClock(isRunning ? (isCalm ? 1_000 : 200) : undefined);
  return isRunning ? now : otherwise;
}

const LEAST_BETWEEN_MS = 600;

/**
 * A value that changes many times a second, seen less often; its last one is always seen. A request that depends on it
 * is answered before the next one is made.
 */
export function useSlowed(value: number): number {
  const [slow, setSlow] = useState(value);
  const latest = useRef(value);
  latest.current = value;
  useEffect(() => {
    if (value === slow) return;
    const timer = setTimeout(() => setSlow(latest.current), LEAST_BETWEEN_MS);
    return () => clearTimeout(timer);
    // Not restarted for each value: a stream of them would postpone it for ever.
  }, [slow, value === slow]);
  return slow;
}
