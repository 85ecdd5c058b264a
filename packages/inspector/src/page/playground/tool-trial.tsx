// One tool: its form (or the same input as JSON), what would be decided, and the call.

import { errorText } from "../api/client.ts";
import { Mono, Prose } from "../parts/text.tsx";
import { Button, LinkButton, ChoiceButtons } from "../parts/button.tsx";
import { type JsonValue, visibleLine } from "@soong/core";
import { useRef, useState } from "preact/hooks";
import type { Called, Explained, PlaygroundTool } from "../../wire/index.ts";
import { useInspector } from "../app/context.ts";
import { CopyButton } from "../call/copy-button.tsx";
import { ProblemText } from "../parts/loading.tsx";
import { ExplainedCall } from "./explained-call.tsx";
import { RawField } from "./plain-fields.tsx";
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
      message: errorText(error),
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
          Values with problems are sent as they are: the pipeline decides. Calls run in{" "}
          <Mono text={props.cwd} />.
        </p>
        <p class="trial-buttons">
          <button type="submit" class="button" disabled={outcome.is === "asking"}>
            Explain
          </button>
          <Button look="primary" disabled={outcome.is === "asking"} onClick={() => void run()}>
            Run
          </Button>
        </p>
      </form>
      <section class="trial-outcome" aria-label="Outcome">
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
