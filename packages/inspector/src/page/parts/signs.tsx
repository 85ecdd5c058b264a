// States, outcomes and decisions as a sign, a word and a colour: never as a colour alone.

import { visibleLine } from "@soong/core";
import type { Lane, RunRow } from "../../wire/session-records.ts";

export interface Sign {
  readonly icon: string;
  readonly word: string;
  readonly tone: Tone;
}

/** A colour of the theme. */
type Tone = "good" | "bad" | "warn" | "quiet" | "info" | "waiting";

const SIGNS: Readonly<Record<string, readonly [icon: string, word: string, tone: Tone]>> = {
  succeeded: ["✓", "succeeded", "good"],
  partial: ["◐", "partial", "warn"],
  failed: ["✕", "failed", "bad"],
  timed_out: ["◷", "timed out", "bad"],
  aborted: ["■", "aborted", "warn"],
  unknown: ["‽", "outcome unknown", "bad"],
  denied: ["⊘", "denied", "warn"],
  rejected: ["⊘", "rejected", "warn"],
  skipped: ["↷", "skipped", "quiet"],
  cancelled: ["■", "cancelled", "warn"],
  discarded: ["∅", "discarded", "quiet"],
  arriving: ["⇢", "checking", "quiet"],
  queued: ["⋯", "queued", "quiet"],
  waiting: ["?", "waiting", "waiting"],
  executing: ["▶", "executing", "info"],
  holding: ["…", "holding", "quiet"],
  left_open: ["╌", "left open", "warn"],
  allow: ["✓", "allow", "good"],
  allow_once: ["✓", "allowed once", "good"],
  allow_for_session: ["✓", "allowed for the session", "good"],
  asked: ["?", "asked, not answered yet", "warn"],
  unanswered: ["⊘", "not answered", "bad"],
  granted: ["✓", "remembered for the session", "good"],
  ask: ["?", "ask", "warn"],
  deny: ["⊘", "deny", "bad"],
  no_opinion: ["–", "no opinion", "quiet"],
  satisfied: ["✓", "satisfied", "good"],
  insufficient: ["✕", "not enough", "warn"],
  running: ["▶", "running", "info"],
  completed: ["✓", "completed", "good"],
  done: ["✓", "done", "good"],
  interrupted: ["■", "interrupted", "warn"],
  waiting_for_approval: ["?", "waiting for you", "waiting"],
  empty: ["○", "empty", "quiet"],
  damaged: ["✕", "damaged", "bad"],
  pending: ["○", "pending", "quiet"],
  ready: ["◎", "ready", "info"],
  claimed: ["◔", "claimed", "info"],
  blocked: ["⊘", "blocked", "warn"],
};

/** A state of a later version is shown as it is. */
export function findSign(state: string): Sign {
  const known = Object.hasOwn(SIGNS, state) ? SIGNS[state] : undefined;
  const [icon, word, tone] = known ?? ["•", state.replaceAll("_", " "), "quiet"];
  return { icon, word, tone };
}

/** A call that is not over while its process is gone is left open. */
export function laneSign({ state, outcome }: Lane, isLive: boolean): Sign {
  if (state !== "ended" && !isLive) return findSign("left_open");
  return findSign(state === "holding" || state === "ended" ? (outcome ?? state) : state);
}

export function runSign({ status }: RunRow, isLive: boolean): Sign {
  return findSign(status === "running" && !isLive ? "left_open" : status);
}

/** Its colour for the styles of an element. */
export function toneStyle(tone: Sign["tone"]) {
  return { "--tone": `var(--${tone})` };
}

export function SignMark(props: { state: string }) {
  return <Mark sign={findSign(props.state)} />;
}

export function Mark(props: { sign: Sign; role?: "gridcell" }) {
  const { icon, word, tone } = props.sign;
  return (
    <span class={`mark ${tone}`} style={toneStyle(tone)} role={props.role}>
      <span aria-hidden="true">{icon}</span> {visibleLine(word)}
    </span>
  );
}
