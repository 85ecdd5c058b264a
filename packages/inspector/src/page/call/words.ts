// States, decisions and ways out of an error in words and signs: nothing is told by colour alone.

type Tone = "good" | "bad" | "warn" | "quiet" | "info";

interface Sign {
  readonly icon: string;
  readonly word: string;
  readonly tone: Tone;
}

const SIGNS: Readonly<Record<string, Sign>> = {
  succeeded: { icon: "✓", word: "succeeded", tone: "good" },
  partial: { icon: "◐", word: "partly done", tone: "warn" },
  failed: { icon: "✕", word: "failed", tone: "bad" },
  timed_out: { icon: "◷", word: "timed out", tone: "bad" },
  aborted: { icon: "■", word: "aborted", tone: "warn" },
  unknown: { icon: "‽", word: "unknown whether it happened", tone: "bad" },
  denied: { icon: "⊘", word: "denied", tone: "warn" },
  rejected: { icon: "⊘", word: "rejected", tone: "warn" },
  skipped: { icon: "↷", word: "skipped", tone: "quiet" },
  cancelled: { icon: "■", word: "cancelled", tone: "warn" },
  discarded: { icon: "∅", word: "discarded", tone: "quiet" },
  arriving: { icon: "…", word: "being checked", tone: "info" },
  queued: { icon: "…", word: "queued", tone: "info" },
  waiting: { icon: "?", word: "waiting for a person", tone: "warn" },
  executing: { icon: "▶", word: "executing", tone: "info" },
  holding: { icon: "…", word: "done, not told yet", tone: "info" },
  left_open: { icon: "╌", word: "left open", tone: "warn" },
  allow: { icon: "✓", word: "allow", tone: "good" },
  allow_once: { icon: "✓", word: "allowed once", tone: "good" },
  allow_for_session: { icon: "✓", word: "allowed for the session", tone: "good" },
  asked: { icon: "?", word: "asked, not answered yet", tone: "warn" },
  unanswered: { icon: "⊘", word: "nobody answered", tone: "bad" },
  granted: { icon: "✓", word: "remembered for the session", tone: "good" },
  ask: { icon: "?", word: "ask", tone: "warn" },
  deny: { icon: "⊘", word: "deny", tone: "bad" },
  no_opinion: { icon: "–", word: "no opinion", tone: "quiet" },
  satisfied: { icon: "✓", word: "satisfied", tone: "good" },
  insufficient: { icon: "✕", word: "not enough", tone: "warn" },
  running: { icon: "▶", word: "running", tone: "info" },
  completed: { icon: "✓", word: "completed", tone: "good" },
  pending: { icon: "○", word: "pending", tone: "quiet" },
  ready: { icon: "◎", word: "ready", tone: "info" },
  claimed: { icon: "◔", word: "claimed", tone: "info" },
  blocked: { icon: "⊘", word: "blocked", tone: "warn" },
};

/** A word nobody foresaw is shown as it is. */
export function signOf(state: string): Sign {
  return Object.hasOwn(SIGNS, state) ? (SIGNS[state] ?? plain(state)) : plain(state);
}

function plain(state: string): Sign {
  return { icon: "•", word: state.replaceAll("_", " "), tone: "quiet" };
}

const RECOVERIES: Readonly<Record<string, string>> = {
  change_arguments: "The same call with other arguments may work.",
  discover_first: "The tool has to be found by a search first.",
  needs_approval: "It needs a person's yes.",
  retry: "The same call may work when it is made again.",
  retry_after_delay: "The same call may work after a while.",
  use_another_tool: "Another tool should be used.",
  set_up_first: "Something has to be set up first.",
  ask_the_user: "A person has to be asked what to do.",
  none: "Nothing will make this call work.",
};

export function recoveryText(recovery: string): string {
  return Object.hasOwn(RECOVERIES, recovery)
    ? (RECOVERIES[recovery] ?? "")
    : recovery.replaceAll("_", " ");
}

export function originText(
  origin: { file?: string; line?: number; flag?: string; code?: string } | undefined,
): string {
  if (origin === undefined) return "";
  const { file, line, flag, code } = origin;
  if (file !== undefined) return line === undefined ? file : `${file}:${line}`;
  return flag ?? code ?? "";
}

/** As it would be typed, so that one argument is not taken for two. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
