// The record of a step: what is to be done, who works on it until when, how often it was tried, what came of it.

import { CutText, Mono, Prose } from "../parts/text.tsx";
import { LinkButton } from "../parts/button.tsx";
import { Pair } from "../parts/table.tsx";
import type { StepRow } from "../../wire/index.ts";
import { SignMark } from "../parts/signs.tsx";
import { clockText, momentText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";

export function StepRecord(props: {
  step: StepRow;
  steps: readonly StepRow[];
  onChoose: (step_id: string) => void;
}) {
  const { step, steps, onChoose } = props;
  const after = steps
    .filter(({ depends_on }) => depends_on.includes(step.step_id))
    .map(({ step_id }) => step_id);
  return (
    <aside class="step-record" aria-label={`Step ${step.title}`}>
      <h2>{visibleLine(step.title)}</h2>
      <p>
        <SignMark state={step.status} /> <span class="quiet mono">{visibleLine(step.step_id)}</span>
      </p>
      <Prose text={step.instructions} />
      <dl class="about">
        <Pair name="Depends on">
          {step.depends_on.length > 0 && (
            <StepLinks ids={step.depends_on} steps={steps} onChoose={onChoose} />
          )}
        </Pair>
        <Pair name="Needed by">
          {after.length > 0 && <StepLinks ids={after} steps={steps} onChoose={onChoose} />}
        </Pair>
        <Pair name="Worker">{step.claimed_by && <Mono text={step.claimed_by} />}</Pair>
        <Pair name="Lease until">
          {step.lease_until && clockText(Date.parse(step.lease_until))}
        </Pair>
        <Pair name="Attempts">
          {step.attempts} of {step.max_attempts}
        </Pair>
        {(["note", "reason", "failure", "summary"] as const).map((field) => (
          <Pair key={field} name={NAMES[field]}>
            {step[field] !== undefined && (
              <span class="prose">
                <CutText text={step[field]} />
              </span>
            )}
          </Pair>
        ))}
        <Pair name="Started">{momentOf(step.started_at)}</Pair>
        <Pair name="Ended">{momentOf(step.ended_at)}</Pair>
      </dl>
    </aside>
  );
}

const NAMES = { note: "Note", reason: "Because", failure: "Failure", summary: "Result" } as const;

function momentOf(time: string | undefined): string | undefined {
  return time && momentText(Date.parse(time), Date.now());
}

const MOST_LINKS = 50;

function StepLinks(props: {
  ids: readonly string[];
  steps: readonly StepRow[];
  onChoose: (step_id: string) => void;
}) {
  const { ids, steps } = props;
  return (
    <ul class="plain">
      {ids.slice(0, MOST_LINKS).map((id) => {
        const step = steps.find(({ step_id }) => step_id === id);
        return (
          <li key={id}>
            {step === undefined ? (
              <span class="mono">{visibleLine(id)} (not in the plan)</span>
            ) : (
              <LinkButton onClick={() => props.onChoose(id)}>{visibleLine(step.title)}</LinkButton>
            )}
          </li>
        );
      })}
      {ids.length > MOST_LINKS && <li>… and {ids.length - MOST_LINKS} more</li>}
    </ul>
  );
}
