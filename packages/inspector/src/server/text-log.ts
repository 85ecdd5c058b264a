// The answers that are being written, of all live sessions, and what of them a page has not seen. Pages are notified at most
// some times a second, with what came meanwhile in one piece; one that asks late gets the same text (EVENT-4).

import type { AnswerText } from "../wire/home-records.ts";

export type TextLog = ReturnType<typeof createTextLog>;

const BEAT_MS = 80;
const MOST_ANSWERS = 64;
const MOST_CHARS = 4 * 1024 * 1024;
/** Of one answer. One who knows an older one gets the whole. */
const MOST_CHANGES = 256;

interface Answer {
  readonly session_id: string;
  readonly run_id: string;
  readonly node_id: string;
  text: string;
  /** At which version it changed from where on, in order. */
  changes: { readonly version: number; readonly offset: number }[];
  /** The version before the first of `changes`. */
  since: number;
}

/** `beat`: those who wait look again. */
export function createTextLog(beat: () => void) {
  /** By session and run, the one that changed last at the end. */
  const answers = new Map<string, Answer>();
  let version = 0;
  let timer: NodeJS.Timeout | undefined;

  return {
    version: (): number => version,
    take(this: void, session_id: string, piece: AnswerText): void {
      const { run_id, node_id, offset } = piece;
      const key = `${session_id} ${run_id}`;
      const known = answers.get(key);
      const answer =
        known?.node_id === node_id
          ? known
          : { session_id, run_id, node_id, text: "", changes: [], since: version };
      // Something before it was missed: what is shown would be wrong.
      if (offset > answer.text.length || offset > MOST_CHARS) return;
      answer.text = answer.text.slice(0, offset) + piece.text.slice(0, MOST_CHARS - offset);
      version += 1;
      answer.changes.push({ version, offset });
      if (answer.changes.length > MOST_CHANGES) answer.since = answer.changes.shift()?.version ?? 0;
      answers.delete(key);
      answers.set(key, answer);
      const [oldest = ""] = answers.keys();
      if (answers.size > MOST_ANSWERS) answers.delete(oldest);
      timer ??= setTimeout(() => {
        timer = undefined;
        beat();
      }, BEAT_MS);
    },
    /** What changed in the answers of a session since a version. */
    since(session_id: string, seen: number): AnswerText[] {
      return [...answers.values()].flatMap((answer) => {
        if (answer.session_id !== session_id) return [];
        const fresh = answer.changes.filter((change) => change.version > seen);
        if (fresh.length === 0) return [];
        const isKnown = seen > answer.since;
        const offset = isKnown ? Math.min(...fresh.map((change) => change.offset)) : 0;
        const { run_id, node_id, text } = answer;
        return [{ run_id, node_id, offset, text: text.slice(offset) }];
      });
    },
    close: (): void => clearTimeout(timer),
  };
}
