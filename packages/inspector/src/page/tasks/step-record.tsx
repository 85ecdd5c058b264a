// The record of a step: what is to be done, who works on it until when, how often it was tried, what came of it.

import type { ComponentChildren } from "preact";
import type { StepRow } from "../../wire/index.ts";
import { SignMark } from "../call/sign-mark.tsx";
import { CutText } from "../parts/cut-text.tsx";
import { clockText, momentText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";

export function StepRecord(props: {
  step: StepRow;
  steps: readonly StepRow[];
  onChoose: (step_id: string) => void;
}) {
  const { step, steps, onChoose } = props;
  const after = steps.filter(({ depends_on }) => depends_on.includes(step.step_id));
  return (
    <aside class="step-record" aria-label={`Step ${step.title}`}>
      <h2>{visibleLine(step.title)}</h2>
      <p>
        <SignMark state={step.status} /> <span class="quiet mono">{visibleLine(step.step_id)}</span>
      </p>
      {step.instructions !== "" && (
        <p class="prose">
          <CutText text={step.instructions} />
        </p>
      )}
      <dl class="about">
        <Row name="Depends on" shown={step.depends_on.length > 0}>
          <StepLinks ids={step.depends_on} steps={steps} onChoose={onChoose} />
        </Row>
        <Row name="Needed by" shown={after.length > 0}>
          <StepLinks ids={after.map(({ step_id }) => step_id)} steps={steps} onChoose={onChoose} />
        </Row>
        <Row name="Works on it" shown={step.claimed_by !== undefined}>
          <span class="mono">{visibleLine(step.claimed_by ?? "")}</span>
        </Row>
        <Row name="Holds until" shown={step.lease_until !== undefined}>
          {clockText(Date.parse(step.lease_until ?? ""))}
          <span class="quiet"> without a sign of life</span>
        </Row>
        <Row name="Tries" shown={true}>
          {step.attempts} of {step.max_attempts}
        </Row>
        <Row name="Note" shown={step.note !== undefined}>
          <span class="prose">
            <CutText text={step.note ?? ""} />
          </span>
        </Row>
        <Row name="Because" shown={step.reason !== undefined}>
          <span class="prose">
            <CutText text={step.reason ?? ""} />
          </span>
        </Row>
        <Row name="Failure" shown={step.failure !== undefined}>
          <span class="prose">
            <CutText text={step.failure ?? ""} />
          </span>
        </Row>
        <Row name="Result" shown={step.summary !== undefined}>
          <span class="prose">
            <CutText text={step.summary ?? ""} />
          </span>
        </Row>
        <Row name="Started" shown={step.started_at !== undefined}>
          {momentText(Date.parse(step.started_at ?? ""), Date.now())}
        </Row>
        <Row name="Ended" shown={step.ended_at !== undefined}>
          {momentText(Date.parse(step.ended_at ?? ""), Date.now())}
        </Row>
      </dl>
    </aside>
  );
}

function Row(props: { name: string; shown: boolean; children: ComponentChildren }) {
  if (!props.shown) return null;
  return (
    <>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </>
  );
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
              <button type="button" class="link" onClick={() => props.onChoose(id)}>
                {visibleLine(step.title)}
              </button>
            )}
          </li>
        );
      })}
      {ids.length > MOST_LINKS && <li>… and {ids.length - MOST_LINKS} more</li>}
    </ul>
  );
}
