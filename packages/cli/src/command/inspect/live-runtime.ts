// One live runtime, as the inspector sees it through its socket: what runs there, what it asks, what was granted in it.
// Kept up to date while it lives; it is never waited for longer than it is asked.

import {
  InspectorError,
  type AnswerGiven,
  type AnswerText,
  type GrantRow,
  type LiveSession,
  type Question,
} from "@soong/inspector";
import {
  connectControl,
  type ControlEvent,
  type ListedGrant,
  type ListedQuestion,
} from "@soong/control";
import { inTime } from "@soong/platform";
import { withAlwaysOffers } from "./always-offers.ts";
import {
  describeOutcome,
  isGrantList,
  isHello,
  isLiveText,
  isQuestion,
  isSettled,
  type Settled,
} from "./validate-control-messages.ts";

/** Who answers here, on record as control:inspector. */
const NAME = "inspector";
/** One that takes longer is stopped, or too busy to be talked to. */
export const ANSWER_MS = 5000;
const REMEMBERED = 200;

export type SeenRuntime = Awaited<ReturnType<typeof seeRuntime>>;

/** Rejects when no one answers there. `changed` is called after each change, `onText` with text of its answers. */
export async function seeRuntime(
  path: string,
  changed: () => void,
  onText: (session_id: string, text: AnswerText) => void = () => {},
) {
  const open = new Map<string, ListedQuestion>();
  /** Settled a moment ago: an answer that comes too late gets what was answered, and by whom. */
  const settled = new Map<string, Settled>();
  let grants: readonly ListedGrant[] = [];
  let lookedAt: number | undefined;
  let isSilent = false;
  /** It has said what cannot be shown. */
  let isMisread = false;
  /** Counts what was said about attending: an answer to an older word says nothing. */
  let said = 0;
  let isAttended = false;
  /** Until it knows that no one attends, what it still asks is not for us. */
  let leaving = 0;
  // In turn with the answers: these are taken up a moment after they came, and what is asked later belongs behind them.
  const client = await connectControl(path, {
    onEvent: (event) => queueMicrotask(() => receiveEvent(event)),
  });
  if (!isHello(client.hello)) {
    client.close();
    throw new Error(`${path} does not say who it is; use the program it was started with.`);
  }
  const { session_id, pid, project } = client.hello;
  const who = `The session ${session_id} (process ${pid}, ${project})`;
  let runs = client.hello.runs;
  // An older runtime does not know it; its answers are seen when they are whole.
  client.request("text.follow", {}).catch(ignoreGone);

  return {
    session_id,
    /** Undefined while it does not answer. */
    live: (): LiveSession | undefined =>
      isSilent ? undefined : { pid, project, runs, questions: open.size },
    questions: (): Question[] => (isSilent ? [] : [...open.values()].map(asQuestion)),
    grants: (): GrantRow[] => (isSilent ? [] : grants.map((grant) => ({ ...grant, pid, project }))),
    /** A sentence, while it does not answer. */
    problem(): string | undefined {
      if (isSilent) return `${who} does not answer: it is stopped, or too busy to be talked to.`;
      if (!isMisread) return undefined;
      return `${who} says what cannot be shown here; use \`soong attach\` of the program it was started with.`;
    },
    /** Its questions are put here: it has said so. */
    isAttended: () => isAttended,
    /** Asks what may have changed; once at a time. */
    look(): void {
      if (lookedAt === undefined) void lookOnce();
      else if (!isSilent && performance.now() - lookedAt > ANSWER_MS) {
        isSilent = true;
        changed();
      }
    },
    attend(): void {
      const word = (said += 1);
      client.request("questions.attend", { name: NAME }).then(() => {
        if (word !== said) return;
        isAttended = true;
        changed();
      }, ignoreGone);
    },
    leave(): void {
      said += 1;
      isAttended = false;
      open.clear();
      leaving += 1;
      client.request("questions.leave", {}).then(() => {
        leaving -= 1;
      }, ignoreGone);
      changed();
    },
    async answer(question_id: string, answer: AnswerGiven): Promise<void> {
      const question = open.get(question_id);
      if (question === undefined) throw refuseLate(question_id);
      const isFitting = question.kind === "permission" ? "decision" in answer : "action" in answer;
      if (!isFitting) throw refuseMisfit(question);
      await waitForAnswer(client.request("questions.answer", { question_id, ...answer }), () =>
        refuseLate(question_id),
      );
    },
    async revoke(grant_id: string): Promise<void> {
      await waitForAnswer(client.request("grants.revoke", { grant_id }), () =>
        refuseUnknownId("grant", grant_id),
      );
      grants = grants.filter((grant) => grant.grant_id !== grant_id);
      changed();
    },
    async abort(run_id: string): Promise<readonly string[]> {
      const reason = "aborted from the inspector";
      const { run_ids } = await waitForAnswer(client.request("run.abort", { run_id, reason }), () =>
        refuseUnknownId("run", run_id),
      );
      return run_ids;
    },
    /** It is gone, or was let go. */
    closed: client.closed,
    close: () => client.close(),
  };

  function receiveEvent(event: ControlEvent): void {
    if (event.event === "text") {
      if (isLiveText(event.data)) onText(session_id, event.data);
      return;
    }
    if (event.event === "question.opened") {
      if (leaving > 0) return;
      if (isQuestion(event.data)) open.set(event.data.question_id, event.data);
      else isMisread = true;
    } else if (event.event === "question.settled") {
      if (!isSettled(event.data)) return;
      open.delete(event.data.question_id);
      settled.set(event.data.question_id, event.data);
      const [oldest = ""] = settled.keys();
      if (settled.size > REMEMBERED) settled.delete(oldest);
    } else return;
    changed();
  }

  async function lookOnce(): Promise<void> {
    lookedAt = performance.now();
    try {
      const [hello, listed] = await Promise.all([
        client.request("hello", {}),
        client.request("grants.list", {}),
      ]);
      const before = JSON.stringify([isSilent, isMisread, runs, grants]);
      isSilent = false;
      if (isHello(hello) && isGrantList(listed.grants)) {
        ({ runs } = hello);
        ({ grants } = listed);
      } else isMisread = true;
      if (JSON.stringify([isSilent, isMisread, runs, grants]) !== before) changed();
    } catch {
      // It is gone, which `closed` tells; or says no more than it did.
    } finally {
      lookedAt = undefined;
    }
  }

  function refuseLate(question_id: string): InspectorError {
    const outcome = describeOutcome(settled.get(question_id));
    return new InspectorError("settled", `Too late: ${outcome}.`);
  }

  function asQuestion(listed: ListedQuestion): Question {
    const of = listed.kind === "permission" ? listed.request.session_id : session_id;
    return withAlwaysOffers({ ...listed, session_id: of, pid, project });
  }

  /** Not forever, and in words for the page. */
  async function waitForAnswer<T>(answer: Promise<T>, notFound: () => InspectorError): Promise<T> {
    try {
      const came = await inTime(answer, { ms: ANSWER_MS });
      if (came.kind === "done") return came.value;
      throw new InspectorError("gone", `${who} does not answer; what was said may still reach it.`);
    } catch (error) {
      if (error instanceof InspectorError) throw error;
      const { code, message } = error as Error & { code?: unknown };
      if (code === "not_found") throw notFound();
      if (code === "unreachable") throw new InspectorError("gone", `${who} has ended.`);
      throw new InspectorError(code === "bad_params" ? "bad_request" : "failed", message);
    }
  }
}

/** It is gone, and `closed` says so. */
function ignoreGone(): void {}

function refuseMisfit({ kind }: ListedQuestion): InspectorError {
  return new InspectorError(
    "bad_request",
    kind === "permission"
      ? "This question is about a call: it is answered with allow_once, allow_for_session or deny."
      : "This question is a tool's: it is answered with accept, decline or cancel.",
  );
}

function refuseUnknownId(what: "grant" | "run", id: string): InspectorError {
  const then = what === "grant" ? "it was taken back already" : "it is not under way any more";
  return new InspectorError("not_found", `There is no ${what} ${id} there: ${then}.`);
}
