// Four layers into one verdict (PERM-2): any deny wins, else the highest layer with an opinion decides,
// and inside a layer ask beats allow. Under a ceiling the stricter of the two verdicts holds (PERM-12).

import { type ChainEntry, type Decision, isStricter } from "./decision.ts";
import { defaultEntries, modeEntry, NO_OPINION } from "./default-layers.ts";
import type { Subject } from "./facts.ts";
import type { Policy } from "./policy.ts";
import { rulesEntries } from "./rules-layer.ts";
import { runtimeEntries } from "./runtime-layer.ts";

export interface Verdict {
  readonly decision: Decision;
  /** The ceiling's entries first, then this policy's, highest layer first. */
  readonly entries: readonly ChainEntry[];
  /** The entry the decision rests on: one of `entries`. */
  readonly decisive: ChainEntry;
}

/** `subjectUnder` gives the call as each policy sees it: what counts as readonly is policy, too. */
export function judge(policy: Policy, subjectUnder: (policy: Policy) => Subject): Verdict {
  const own = judgeAlone(policy, subjectUnder(policy));
  if (policy.ceiling === undefined) return own;
  const above = underCeiling(judge(policy.ceiling, subjectUnder));
  const stricter = isStricter(above.decision, own.decision) ? above : own;
  return { ...stricter, entries: [...above.entries, ...own.entries] };
}

function judgeAlone(policy: Policy, subject: Subject): Verdict {
  const runtime = runtimeEntries(policy.boundary, subject);
  const rules = rulesEntries(policy, subject);
  const entries = [
    ...(runtime.length === 0 ? [NO_OPINION.runtime] : runtime),
    ...(rules.length === 0 ? [NO_OPINION.rules] : rules),
    modeEntry(policy, subject),
    ...defaultEntries(policy, subject).map((entry) => addReason(entry, rules)),
  ];
  const decisive = findDecisive(entries);
  return { decision: decisive.verdict, entries, decisive };
}

/** Where the defaults ask although a rule was meant to allow this: why that rule is not enough says more. */
function addReason(entry: ChainEntry, rules: readonly ChainEntry[]): ChainEntry {
  const rule = rules.find(({ verdict }) => verdict === "insufficient");
  if (rule === undefined || entry.verdict !== "ask") return entry;
  return { ...entry, reason: `${entry.reason} ${rule.reason}` };
}

type Opinion = ChainEntry & { readonly verdict: Decision };

function findDecisive(entries: readonly ChainEntry[]): Opinion {
  const opinions = entries.filter(isOpinion);
  const highest = opinions[0]?.layer;
  return (
    opinions.find((entry) => entry.verdict === "deny") ??
    opinions.find((entry) => entry.layer === highest && entry.verdict === "ask") ??
    opinions[0] ??
    NOBODY_SPOKE
  );
}

function isOpinion(entry: ChainEntry): entry is Opinion {
  return entry.verdict === "allow" || entry.verdict === "ask" || entry.verdict === "deny";
}

/** The defaults always speak; should that ever change, silence is not a yes. */
const NOBODY_SPOKE: Opinion = Object.freeze({
  layer: "defaults",
  rule: "defaults.silence_asks",
  verdict: "ask",
  reason: "No layer has an opinion about this call.",
});

function underCeiling(verdict: Verdict): Verdict {
  const marked = new Map(verdict.entries.map((entry) => [entry, asCeiling(entry)]));
  return {
    decision: verdict.decision,
    entries: [...marked.values()],
    decisive: marked.get(verdict.decisive) ?? asCeiling(verdict.decisive),
  };
}

function asCeiling(entry: ChainEntry): ChainEntry {
  return { ...entry, layer: "ceiling", rule: `${entry.layer}/${entry.rule}` };
}
