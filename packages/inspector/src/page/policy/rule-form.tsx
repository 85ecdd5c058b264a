// A rule that is typed: by its fields, or as lines of a config. What is wrong is said at the field.

import { visibleLine } from "@soong/core";
import type { RuleChecked, RuleFields, RuleTyped } from "../../wire/policy-records.ts";
import { ChoiceButtons } from "../parts/button.tsx";
import { Select, TextInput } from "../parts/input.tsx";

export interface RuleDraft {
  how: "fields" | "toml";
  fields: Readonly<Record<string, string | boolean>>;
  toml: string;
}

export const EMPTY_DRAFT: RuleDraft = {
  how: "fields",
  fields: { decision: "ask" },
  toml: '[[permissions.rules]]\ntool = "code.write_file"\npath = "docs/**"\ndecision = "ask"\n',
};

const FIELDS = [
  ["tool", "Tool", "code.write_file, code.*"],
  ["path", "Path", "docs/**"],
  ["argv", "Command", "npm test **"],
  ["host", "Host", "*.example.org"],
  ["tags", "Tags", "network write"],
  ["project", "Only in the project", "/home/ada/app"],
  ["reason", "Reason", "which the model reads"],
] as const;

const LISTS: ReadonlySet<string> = new Set(["argv", "tags"]);
const DECISIONS = [
  ["allow", "allow"],
  ["ask", "ask"],
  ["deny", "deny"],
] as const;

/** Without what is empty. */
export function readFields(typed: RuleDraft["fields"]): RuleFields {
  const given: Record<string, string | boolean | string[]> = {};
  for (const [name, value] of Object.entries(typed)) {
    const text = typeof value === "string" ? value.trim() : "";
    if (value === true) given[name] = true;
    else if (text !== "") given[name] = LISTS.has(name) ? text.split(/\s+/) : text;
  }
  return given;
}

export function readDraft({ how, fields, toml }: RuleDraft): RuleTyped {
  return how === "toml" ? { toml } : { fields: readFields(fields) };
}

export function RuleForm(props: {
  draft: RuleDraft;
  problems: RuleChecked["problems"];
  onChange: (draft: RuleDraft) => void;
}) {
  const { draft, problems, onChange } = props;
  const general = problems.filter(
    ({ field }) => draft.how === "toml" || !FIELDS.some(([name]) => name === field),
  );
  return (
    <div class="rule-form">
      <p role="group" aria-label="How the rule is typed">
        <ChoiceButtons
          choices={{ fields: "Fields", toml: "TOML" }}
          chosen={draft.how}
          onChoose={(how) => onChange({ ...draft, how })}
        />
      </p>
      {draft.how === "fields" ? (
        <Fields {...props} />
      ) : (
        <label class="field">
          The rule as lines of a config
          <textarea
            class="mono"
            rows={6}
            spellcheck={false}
            value={draft.toml}
            onInput={(event) => onChange({ ...draft, toml: event.currentTarget.value })}
          />
        </label>
      )}
      {general.length > 0 && (
        <ul class="problem" role="alert">
          {general.map(({ field, line, message }) => (
            <li key={message}>
              {line !== undefined && `line ${line}: `}
              {visibleLine([field, message].filter(Boolean).join(" "))}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Fields({ draft, problems, onChange }: Parameters<typeof RuleForm>[0]) {
  const set = (name: string, value: string | boolean) =>
    onChange({ ...draft, fields: { ...draft.fields, [name]: value } });
  const check = (name: string, words: string) => (
    <label>
      <input
        type="checkbox"
        checked={draft.fields[name] === true}
        onChange={(event) => set(name, event.currentTarget.checked)}
      />{" "}
      {words}
    </label>
  );
  return (
    <>
      <div class="rule-fields">
        <label class="field">
          Decision
          <Select
            value={String(draft.fields["decision"])}
            options={DECISIONS}
            onChoose={(value) => set("decision", value)}
          />
        </label>
        {FIELDS.map(([name, label, example]) => {
          const wrong = problems.filter(({ field }) => field === name);
          return (
            <div key={name} class="field">
              <label for={`rule-${name}`}>{label}</label>
              <TextInput
                id={`rule-${name}`}
                class="mono"
                autocomplete="off"
                spellcheck={false}
                placeholder={example}
                value={String(draft.fields[name] ?? "")}
                aria-invalid={wrong.length > 0}
                aria-describedby={wrong.length > 0 ? `rule-${name}-problem` : undefined}
                onText={(text) => set(name, text)}
              />
              {wrong.length > 0 && (
                <span id={`rule-${name}-problem`} class="problem" role="alert">
                  {wrong.map(({ message }) => visibleLine(message)).join("; ")}
                </span>
              )}
            </div>
          );
        })}
      </div>
      <p class="choice">
        {check("exact_argv", "the command has no further words")}
        {check("every_time", "ask every time, despite grants")}
      </p>
    </>
  );
}
