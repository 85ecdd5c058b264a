// One tool: its form (or the same input as JSON), what would be decided, and the call.

import type { JsonValue } from "@soong/core";
import { useRef, useState } from "preact/hooks";
import type { Called, Explained, PlaygroundTool } from "../../wire/index.ts";
import { useInspector } from "../app/context.ts";
import { CopyButton } from "../call/copy-button.tsx";
import { LookButtons } from "../parts/look-buttons.tsx";
import { CutText } from "../parts/cut-text.tsx";
import { ProblemText } from "../parts/loading.tsx";
import { visibleLine } from "@soong/core";
import { ExplainedCall } from "./explained-call.tsx";
import { RawField } from "./raw-field.tsx";
import { RunningCall } from "./running-call.tsx";
import { SchemaForm } from "./schema-form.tsx";
import { startValue } from "./value.ts";

/** What was filled in for each tool, while the page is open. */
const drafts = new Map<string, JsonValue | undefined>();

export function ToolTrial(props: { tool: PlaygroundTool; cwd: string }) {
  const { tool } = props;
  const { tool_name, input_schema } = tool;
  const { api, announce } = useInspector();
  const [value, setValue] = useState<JsonValue | undefined>(() =>
    drafts.has(tool_name) ? drafts.get(tool_name) : startValue(input_schema, input_schema),
  );
  const [look, setLook] = useState<"form" | "json">("form");
  const [outcome, setOutcome] = useState<Outcome>({ is: "none" });
  const asked = useRef(0);
  const input = value ?? {};

  function change(next: JsonValue | undefined): void {
    drafts.set(tool_name, next);
    setValue(next);
  }

  async function ask(load: () => Promise<Outcome>): Promise<void> {
    asked.current += 1;
    const own = asked.current;
    setOutcome({ is: "asking" });
    const next = await load().catch((error: unknown): Outcome => ({
      is: "failed",
      message: error instanceof Error ? error.message : String(error),
    }));
    // What was asked since then counts.
    if (own !== asked.current) return;
    setOutcome(next);
    if (next.is === "explained") announce(`${tool_name}: explained below.`);
  }

  const explain = () =>
    ask(async () => ({
      is: "explained",
      explained: await api.ask("POST /api/playground/explain", { body: { tool_name, input } }),
    }));
  const run = () =>
    ask(async () => ({
      is: "called",
      called: await api.ask("POST /api/playground/call", { body: { tool_name, input } }),
    }));

  return (
    <>
      <h2 class="mono">{visibleLine(tool_name)}</h2>
      <p>
        <span class="chip">{tool.permission === "write" ? "✎ write" : "read only"}</span>{" "}
        <span class="quiet">{visibleLine(tool.tags.join(", "))}</span>
      </p>
      <p class="prose">
        <CutText text={tool.description} />
      </p>
      <div class="plan-look" role="group" aria-label="How the input is edited">
        <LookButtons looks={{ form: "Form", json: "JSON" }} shown={look} onShow={setLook} />
        <CopyButton text={() => JSON.stringify(input, null, 2)} what="the input" />
        <button
          type="button"
          class="link"
          onClick={() => change(startValue(input_schema, input_schema))}
        >
          Start over
        </button>
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
            says_missing={outcome.is !== "none"}
            offers_extras={true}
          />
        ) : (
          <label class="field">
            The input as JSON
            <RawField id="playground-json" value={value} onChange={change} />
          </label>
        )}
        <p class="quiet">
          Also what the form complains about is sent as it is: the pipeline decides. Calls happen in{" "}
          <span class="mono">{visibleLine(props.cwd)}</span>.
        </p>
        <p class="trial-buttons">
          <button type="submit" class="button" disabled={outcome.is === "asking"}>
            Explain
          </button>
          <button
            type="button"
            class="button primary"
            disabled={outcome.is === "asking"}
            onClick={() => void run()}
          >
            Run
          </button>
        </p>
      </form>
      <section class="trial-outcome" aria-label="What came of it">
        <OutcomeView outcome={outcome} tool_name={tool_name} />
      </section>
    </>
  );
}

type Outcome =
  | { is: "none" }
  | { is: "asking" }
  | { is: "explained"; explained: Explained }
  | { is: "called"; called: Called }
  | { is: "failed"; message: string };

function OutcomeView(props: { outcome: Outcome; tool_name: string }) {
  const { outcome } = props;
  switch (outcome.is) {
    case "none":
      return null;
    case "asking":
      return <p class="quiet">Asking…</p>;
    case "failed":
      return <ProblemText text={outcome.message} />;
    case "explained":
      return <ExplainedCall explained={outcome.explained} />;
    case "called":
      return (
        <RunningCall
          key={outcome.called.run_id}
          called={outcome.called}
          tool_name={props.tool_name}
        />
      );
  }
}
