// The end of a conversation: what waits for an answer, a prompt to continue with, and the way to stop.

import { useEffect, useState } from "preact/hooks";
import type { ConversationItem } from "../../wire/session-records.ts";
import { useAction, useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { useKeys } from "../app/keys.ts";
import { Button } from "../parts/button.tsx";
import { ProblemText } from "../parts/text.tsx";
import { QuestionList } from "../questions/question-list.tsx";
import type { SessionModel } from "../state/session-model.ts";
import { runsInOrder } from "../sessions/run-picker.tsx";
import { PromptField } from "./prompt-field.tsx";
import { RunOptionFields, type RunOptions } from "./run-options.tsx";
import { findSendState } from "./why-not.ts";

export function Composer(props: {
  model: SessionModel;
  /** The prompt that is edited, if one is. */
  edited: ConversationItem | undefined;
  /** The model that answered last. */
  lastModel: string | undefined;
  /** It is edited no longer. */
  onEdited: () => void;
  onSent: () => void;
}) {
  const { model, edited, onEdited, onSent } = props;
  const { session_id } = model;
  const { about, api, go, announce } = useInspector();
  const [text, setText] = useState("");
  const [draft, setDraft] = useState("");
  const [options, setOptions] = useState<RunOptions>({});
  const { isRunning: isSending, problem, run } = useAction();
  const stopping = useAction();
  const choices = useAnswer("GET /api/runs/choices", {}, { isPaused: !about.can.run });
  const state = findSendState(about, model.session);
  const active = findActiveRun(model);
  // An answer of the socket may be a moment behind the facts.
  const isActive = active !== undefined && model.session?.live !== undefined;
  const hasDefault = choices.value === undefined || choices.value.default_model !== undefined;
  const shownOptions: RunOptions = hasDefault
    ? options
    : { ...options, model: options.model ?? props.lastModel };

  useEffect(() => {
    if (edited !== undefined) setDraft(textOf(edited));
  }, [edited]);

  const send = () => {
    const prompt = edited === undefined ? text : draft;
    if (isSending || prompt.trim() === "" || state.can === "not") return;
    void run(async () => {
      const body = { ...shownOptions, prompt, session_id, instead_of: edited?.node_id };
      const begun = await api.ask("POST /api/runs", { body });
      announce(begun.is_queued === true ? "Sent to the active run." : "The run begins.");
      if (edited === undefined) setText("");
      else onEdited();
      onSent();
      if (begun.session_id !== session_id) {
        go({ view: "session", tab: "conversation", session_id: begun.session_id });
      }
    });
  };
  const stop = () => {
    if (active === undefined) return;
    const { run_id } = active;
    void stopping.run(async () => {
      await api.ask("POST /api/runs/:run_id/abort", { path: { run_id }, body: { session_id } });
      announce("Stop requested.");
    });
  };
  const canStop = isActive && about.can.answer;
  useKeys(edited !== undefined ? { Escape: onEdited } : canStop ? { Escape: stop } : NO_KEYS);

  return (
    <div class="composer">
      <QuestionList session_id={session_id} />
      <ProblemText text={stopping.problem} />
      <ProblemText text={problem} />
      {edited !== undefined && (
        <p class="composer-note">
          You edit an earlier prompt. The run begins before it;{" "}
          {edited.is_first === true
            ? "as nothing was said before it, in a new session."
            : "what came after it stays on record as another branch. Files stay as they are."}{" "}
          <Button onClick={onEdited}>
            Cancel <kbd>Esc</kbd>
          </Button>
        </p>
      )}
      <div class="composer-line">
        <PromptField
          key={edited?.node_id ?? ""}
          label={edited === undefined ? "Prompt" : "Edited prompt"}
          text={edited === undefined ? text : draft}
          onText={edited === undefined ? setText : setDraft}
          onSend={send}
          disabled={state.can === "not"}
          hasFocus={edited !== undefined}
          placeholder={PLACEHOLDERS[state.can]}
          describedBy="composer-why"
        />
        <div class="composer-buttons">
          {canStop && (
            <Button look="danger" disabled={stopping.isRunning} onClick={stop}>
              Stop <kbd>Esc</kbd>
            </Button>
          )}
          <Button look="primary" disabled={isSending || state.can === "not"} onClick={send}>
            {isSending ? "Sending…" : edited === undefined ? "Send" : "Run again"}
          </Button>
        </div>
      </div>
      {state.can === "not" ? (
        <p id="composer-why" class="quiet composer-why">
          {state.why}
        </p>
      ) : (
        <div id="composer-why" class="composer-foot">
          {state.can === "join" ? (
            <span class="quiet">The active run reads it with its next request.</span>
          ) : (
            <RunOptionFields
              choices={choices.value}
              options={shownOptions}
              onOptions={setOptions}
            />
          )}
          <span class="quiet keys-hint">
            <kbd>Enter</kbd> sends, <kbd>Shift</kbd>+<kbd>Enter</kbd> new line
          </span>
        </div>
      )}
      <ProblemText text={choices.problem} onRetry={choices.reload} />
    </div>
  );
}

const PLACEHOLDERS = {
  start: "Continue this session…",
  join: "Say something to the active run…",
  not: "This session cannot be continued here",
} as const;
const NO_KEYS = {};

/** The run that the user would stop: the last one of their own that is not over. */
export function findActiveRun(model: Pick<SessionModel, "runs">) {
  return runsInOrder(model).findLast(
    ({ parent_run_id, ended_at }) => parent_run_id === undefined && ended_at === undefined,
  );
}

function textOf({ content }: ConversationItem): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
}
