// The four inputs of a call (SCHEMA-6): what the model wrote, and what became of it on the way to the tool. What changed
// is marked on both sides, with who changed it.

import { type JsonValue, visibleLine } from "@soong/core";
import { useMemo } from "preact/hooks";
import type { CallInput, CallInputs, InputChange } from "../../wire/session-records.ts";
import { parseJson } from "../api/client.ts";
import { CopyButton } from "../parts/button.tsx";
import { JsonCode } from "../parts/json-code.tsx";
import { LongText } from "../parts/text.tsx";

const STAGES = [
  { key: "observable_input", name: "Checked and normalised", same: "As the model wrote it." },
  { key: "permission_input", name: "Evaluated", same: "As checked." },
  { key: "call_input", name: "Given to the tool", same: "As evaluated." },
] as const;

export function CallInputsView({ inputs }: { inputs: CallInputs }) {
  const { model_input } = inputs;
  let before = useMemo(() => parseJson(model_input) as JsonValue | undefined, [model_input]);
  const stages = STAGES.map((stage) => {
    const input = inputs[stage.key];
    const shown = { ...stage, input, before };
    if (input.state === "changed") before = input.value;
    return shown;
  });
  return (
    <ol class="inputs">
      <li>
        <h4>
          Written by the model <CopyButton text={model_input} what="what the model wrote" />
        </h4>
        <LongText text={model_input} label="What the model wrote, verbatim" />
      </li>
      {stages.map(({ key, name, same, input, before }) => (
        <li key={key}>
          <h4>
            {name}
            {input.state === "changed" && (
              <>
                {" "}
                <span class="chip">changed</span>{" "}
                <CopyButton text={() => JSON.stringify(input.value, null, 2)} what={name} />
              </>
            )}
          </h4>
          {input.state === "same" && <p class="quiet">{same}</p>}
          {input.state === "never" && <p class="quiet">The call ended before this step.</p>}
          {input.state === "changed" && <Changed name={name} input={input} before={before} />}
        </li>
      ))}
    </ol>
  );
}

const MOST_CHANGES = 50;

function Changed(props: {
  name: string;
  input: Extract<CallInput, { state: "changed" }>;
  before: JsonValue | undefined;
}) {
  const { name, before } = props;
  const { changes, value } = props.input;
  const at = (side: "from" | "to") =>
    changes.filter((change) => change[side] !== undefined).map(({ path }) => path);
  return (
    <>
      <ul class="changes">
        {changes.slice(0, MOST_CHANGES).map((change, index) => (
          <li key={index}>
            <span class="mono">{change.path === "" ? "the whole" : visibleLine(change.path)}</span>:{" "}
            {changeText(change)}
            {change.by !== undefined && <span class="quiet"> by {visibleLine(change.by)}</span>}
          </li>
        ))}
        {changes.length > MOST_CHANGES && <li>… {changes.length - MOST_CHANGES} more changes</li>}
      </ul>
      <div class="two-sides">
        {before !== undefined && (
          <div>
            <div class="quiet">Before</div>
            <JsonCode value={before} sign="−" label={`${name}: before`} marked={at("from")} />
          </div>
        )}
        <div>
          <div class="quiet">After</div>
          <JsonCode value={value} sign="+" label={`${name}: after`} marked={at("to")} />
        </div>
      </div>
    </>
  );
}

function changeText({ from, to }: InputChange) {
  if (from === undefined) return <>added {short(to)}</>;
  if (to === undefined) return <>removed {short(from)}</>;
  return (
    <>
      {short(from)} → {short(to)}
    </>
  );
}

const SHORT = 120;

function short(value: JsonValue | undefined) {
  const text = JSON.stringify(value) ?? "";
  return <code>{visibleLine(text.length > SHORT ? `${text.slice(0, SHORT)}…` : text)}</code>;
}
