// One tool: its form (or the same input as JSON), what would be decided, and the call.

import { type JsonValue, visibleLine } from "@soong/core";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Called, Explained, PastCall, PlaygroundTool } from "../../wire/home-records.ts";
import { errorText } from "../api/client.ts";
import { useAction, useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { DecisionChain } from "../call/call-decisions.tsx";
import { CallResult, ErrorText } from "../call/call-result.tsx";
import { PreviewView } from "../call/preview.tsx";
import { SandboxLimits } from "../call/sandbox-limits.tsx";
import { Button, ChoiceButtons, CopyButton, LinkButton } from "../parts/button.tsx";
import { JsonCode } from "../parts/json-code.tsx";
import { SignMark } from "../parts/signs.tsx";
import { Mono, ProblemText, Prose, spacedText } from "../parts/text.tsx";
import { durationText } from "../parts/time.ts";
import { QuestionList } from "../questions/question-list.tsx";
import { linkToTimeline } from "../route/hash-route.ts";
import { CallHistory } from "./call-history.tsx";
import { RawField } from "./plain-fields.tsx";
import { SchemaForm } from "./schema-form.tsx";
import { startValue } from "./value.ts";

/** What was filled in for each tool, while the page is open. */
const drafts = new Map<string, JsonValue | undefined>();

/** The form of that tool begins with this. */
export function setDraft(tool_name: string, input: JsonValue): void {
  drafts.set(tool_name, input);
}

export function ToolTrial(props: {
  tool: PlaygroundTool;
  cwd: string;
  /** Earlier calls of any tool, newest first. */
  history: readonly PastCall[];
  /** A call has ended: there is one more of them. */
  onCalled: () => void;
}) {
  const { tool, cwd } = props;
  const { tool_name, input_schema } = tool;
  const { api, announce } = useInspector();
  const [value, setValue] = useState<JsonValue | undefined>(() =>
    drafts.has(tool_name) ? drafts.get(tool_name) : startValue(input_schema, input_schema),
  );
  const [look, setLook] = useState<"form" | "json">("form");
  const [outcome, setOutcome] = useState<ComponentChildren>();
  const [isAsking, setAsking] = useState(false);
  const asked = useRef(0);
  const input = value ?? {};

  function change(next: JsonValue | undefined): void {
    drafts.set(tool_name, next);
    setValue(next);
  }

  async function ask(load: () => Promise<ComponentChildren>): Promise<void> {
    asked.current += 1;
    const own = asked.current;
    setAsking(true);
    const next = await load().catch((error: unknown) => <ProblemText text={errorText(error)} />);
    // What was asked since then counts.
    if (own !== asked.current) return;
    setAsking(false);
    setOutcome(next);
  }

  const body = { tool_name, input };
  const explain = () =>
    ask(async () => {
      const explained = await api.ask("POST /api/playground/explain", { body });
      announce(`${tool_name}: explained below.`);
      return <ExplainedCall explained={explained} />;
    });
  const run = () =>
    ask(async () => {
      const called = await api.ask("POST /api/playground/call", { body });
      const parts = { called, tool_name, onEnded: props.onCalled };
      return <RunningCall key={called.run_id} {...parts} />;
    });

  return (
    <>
      <h2 class="mono">{visibleLine(tool_name)}</h2>
      <p>
        <span class="chip">{tool.permission === "write" ? "✎ write" : "readonly"}</span>{" "}
        <span class="quiet">{visibleLine(tool.tags.join(", "))}</span>
      </p>
      <Prose text={tool.description} />
      <div class="plan-look" role="group" aria-label="How the input is edited">
        <ChoiceButtons choices={{ form: "Form", json: "JSON" }} chosen={look} onChoose={setLook} />
        <CopyButton text={() => JSON.stringify(input, null, 2)} what="the input" />
        <LinkButton onClick={() => change(startValue(input_schema, input_schema))}>
          Start over
        </LinkButton>
      </div>
      <form
        class="schema-form"
        onSubmit={(event) => {
          event.preventDefault();
          void explain();
        }}
      >
        {look === "form" ? (
          <SchemaForm
            schema={input_schema}
            value={value}
            onChange={change}
            says_missing={isAsking || outcome !== undefined}
            offers_extras
          />
        ) : (
          <label class="field">
            The input as JSON
            <RawField id="playground-json" value={value} onChange={change} />
          </label>
        )}
        <p class="quiet">
          Values with problems are sent as they are: the pipeline decides. Calls run in{" "}
          <Mono text={cwd} />.
        </p>
        <p class="trial-buttons">
          <button type="submit" class="button" disabled={isAsking}>
            Explain
          </button>
          <Button look="primary" disabled={isAsking} onClick={() => void run()}>
            Run
          </Button>
        </p>
      </form>
      <section class="trial-outcome" aria-label="Outcome">
        {isAsking ? <p class="quiet">Asking…</p> : outcome}
      </section>
      <CallHistory
        calls={props.history.filter((call) => call.tool_name === tool_name)}
        onUse={({ input }) => change(input)}
      />
    </>
  );
}

const HEADS = {
  allow: "It would be allowed",
  ask: "It would require approval",
  deny: "It would be denied",
} as const;

/** What would be decided about a call, without making it, and what a yes would cover. */
function ExplainedCall({ explained }: { explained: Explained }) {
  const { explanation, session_scope, blocked } = explained;
  if (explanation.outcome === "refused") {
    return (
      <>
        <h3>It would be refused</h3>
        <p>
          <SignMark state={explanation.status} /> before anything is decided.
        </p>
        <ErrorText error={explanation.error} />
        {blocked && <DecisionChain chain={blocked} />}
      </>
    );
  }
  const { outcome, reason, chain, plan, hooks, effects, observable_input } = explanation;
  const is = Object.entries(effects).flatMap(([name, is]) =>
    is === true ? [spacedText(name)] : [],
  );
  return (
    <>
      <h3>{HEADS[outcome]}</h3>
      <p>
        <SignMark state={outcome} /> {visibleLine(reason)}
      </p>
      {outcome === "ask" && (
        <p>
          Approving once covers this exact call.
          {session_scope !== undefined && ` For the session: ${visibleLine(session_scope)}`}
        </p>
      )}
      {plan?.preview && <PreviewView preview={plan.preview} />}
      {plan?.sandbox && <SandboxLimits about={plan} />}
      <DecisionChain chain={chain} />
      {hooks.length > 0 && (
        <p>
          Hooks run first, and can only make it stricter: <Mono text={hooks.join(", ")} />
        </p>
      )}
      <p class="quiet">{is.join(", ")}</p>
      <details>
        <summary>The input after it was checked</summary>
        <JsonCode value={observable_input} label="Observable input" />
      </details>
    </>
  );
}

/** A call that was begun here: its questions while it waits, then its result, and the way to its session. */
function RunningCall(props: { called: Called; tool_name: string; onEnded: () => void }) {
  const { called, tool_name } = props;
  const { session_id, run_id } = called;
  const { api, announce } = useInspector();
  const aborting = useAction();
  const [isOver, setOver] = useState(false);
  const isVisible = useVisible();
  const {
    value: ended,
    problem,
    reload,
  } = useAnswer(
    "GET /api/playground/calls/:run_id",
    { path: { run_id } },
    // Held until the call ends. A browser has few connections, so a tab in the background keeps none.
    { isPaused: !isVisible || isOver },
  );
  useEffect(() => {
    if (ended === undefined) return;
    setOver(true);
    announce(`${tool_name}: ${ended.result.status}.`);
    props.onEnded();
  }, [ended]);

  const abort = () =>
    aborting.run(async () => {
      await api.ask("POST /api/runs/:run_id/abort", { path: { run_id }, body: { session_id } });
    });

  return (
    <>
      <h3>{ended ? "The result" : "The call"}</h3>
      <p>
        {ended && (
          <>
            <SignMark state={ended.result.status} /> after{" "}
            {durationText(ended.result.metadata.duration_ms)}
            {" · "}
          </>
        )}
        <a href={linkToTimeline({ session_id, run_id, tool_call_id: ended?.tool_call_id })}>
          See it in its session
        </a>
      </p>
      <QuestionList session_id={session_id} />
      {ended === undefined && problem === undefined && (
        <p>
          <span role="status">▶ Running, or waiting for an answer.</span>{" "}
          <Button onClick={() => void abort()}>Abort</Button>
        </p>
      )}
      <ProblemText text={aborting.problem} />
      <ProblemText text={problem} onRetry={reload} />
      {ended && <CallResult result={ended.result} model_view={ended.result.content} />}
    </>
  );
}

/** Whether the tab is in front. */
function useVisible(): boolean {
  const [isVisible, setVisible] = useState(() => !document.hidden);
  useEffect(() => {
    const look = () => setVisible(!document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return isVisible;
}
