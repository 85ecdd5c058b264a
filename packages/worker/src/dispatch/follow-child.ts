// Follows the run of a worker in the dispatching process: charges its model usage to the dispatching run, and answers the
// questions that grants of the dispatching session cover.

import {
  chargeUsage,
  reportUsage,
  sumUsage,
  type RemoteWatch,
  type UsageTotal,
} from "@soong/agent";
import type { QuestionRecord, Store } from "@soong/store";
import { answerFromGrants } from "./answer-from-grants.ts";

export interface ChildFollower {
  look(session_id: string): Promise<ChildLook>;
  /** The usage of all runs of that session, as of the last look. */
  usageOf(session_id: string): UsageTotal;
}

export interface ChildLook {
  /** Why no more may be used, as a sentence. Undefined: the budget is not exceeded. */
  readonly exceeded: string | undefined;
  /** The open questions that users have to answer. */
  readonly questions: readonly QuestionRecord[];
}

interface Followed {
  readonly usage: UsageTotal;
  lastSeq: number;
}

const REQUEST_ENDS = ["model.completed", "model.failed"] as const;

export function followChild(
  store: Store,
  watch: Pick<RemoteWatch, "grants" | "project" | "onUsed">,
): ChildFollower {
  const sessions = new Map<string, Followed>();
  return {
    async look(session_id) {
      const questions = await answerFromGrants(store, session_id, watch);
      return { questions, exceeded: await charge(session_id) };
    },
    usageOf: (session_id) => sessions.get(session_id)?.usage ?? sumUsage([]),
  };

  async function charge(session_id: string): Promise<string | undefined> {
    const followed = sessions.get(session_id) ?? { usage: sumUsage([]), lastSeq: 0 };
    sessions.set(session_id, followed);
    const more = await store.factsOfTypes([session_id], REQUEST_ENDS, followed.lastSeq);
    followed.lastSeq = more.at(-1)?.seq ?? followed.lastSeq;
    const used = reportUsage(more).session;
    chargeUsage(followed.usage, used);
    return watch.onUsed(used);
  }
}
