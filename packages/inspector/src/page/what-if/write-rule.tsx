// Writing a rule that was tried to the user's own config: first the very change is shown, then it is written as it was shown, or not
// at all.

import { visibleLine } from "@soong/core";
import { useRef, useState } from "preact/hooks";
import type { RuleChange, RuleTyped, WhatIfGroup } from "../../wire/policy-records.ts";
import { useAction } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { PreviewView } from "../call/preview.tsx";
import { Button, focusOnce } from "../parts/button.tsx";
import { Mono, ProblemText } from "../parts/text.tsx";
import { useAnswerGuard, waitMark } from "../questions/answer-guard.ts";
import { describeAllowed } from "./all-runs-report.tsx";

export function WriteRule(props: {
  rule: RuleTyped;
  /** Of a rule that allows: what it would have decided. */
  allowed: readonly WhatIfGroup[] | undefined;
  onWritten?: (() => void) | undefined;
}) {
  const { rule, allowed } = props;
  const { api, announce } = useInspector();
  const [change, setChange] = useState<RuleChange>();
  const [state, setState] = useState<"shown" | "changed" | "written">("shown");
  const { isRunning, problem, run } = useAction();

  const show = () =>
    void run(async () => setChange(await api.ask("POST /api/policy/rule/change", { body: rule })));

  const write = ({ hash }: RuleChange) =>
    void run(async () => {
      const body = { rule, shown: hash };
      const answer = await api.ask("POST /api/policy/rule/write", { body });
      setChange(answer.change);
      setState(answer.written ? "written" : "changed");
      if (!answer.written) return;
      announce(`The rule was added to ${answer.change.file}.`);
      props.onWritten?.();
    });

  return (
    <section class="write-rule" aria-label="Write this rule">
      {change === undefined ? (
        <Button disabled={isRunning} onClick={show}>
          Write this rule to my config…
        </Button>
      ) : (
        <>
          {allowed !== undefined && state !== "written" && <Widening allowed={allowed} />}
          {state === "changed" && (
            <p class="problem" role="alert">
              ⚠ Nothing was written: the file has changed meanwhile. This is the change now.
            </p>
          )}
          {state === "written" ? (
            <p role="status" tabIndex={-1} ref={focusOnce}>
              ✓ The rule was added at <Mono text={`${change.file}:${change.line}`} />. It holds from
              the next run on.
            </p>
          ) : (
            <>
              <p tabIndex={-1} ref={focusOnce}>
                This is added to <Mono text={`${change.file}:${change.line}`} />, your own config.
                Nothing else changes.
              </p>
              <PreviewView preview={{ kind: "diff", path: change.file, diff: change.diff }} />
              <Confirm change={change} isRunning={isRunning} onWrite={() => write(change)} />
            </>
          )}
        </>
      )}
      <ProblemText text={problem} />
    </section>
  );
}

/** Never silently: what is allowed from then on is said before. */
function Widening({ allowed }: { allowed: readonly WhatIfGroup[] }) {
  const words = describeAllowed(allowed);
  return (
    <p class="problem-box" role="note">
      ⚠ This rule allows calls without asking you.{" "}
      {words === undefined
        ? "In the runs that were looked at, it would have allowed none that was not allowed anyway."
        : `It would have allowed ${visibleLine(words)}.`}
    </p>
  );
}

function Confirm(props: { change: RuleChange; isRunning: boolean; onWrite: () => void }) {
  const { change, isRunning } = props;
  const place = useRef<HTMLParagraphElement>(null);
  const { waiting, isMeant } = useAnswerGuard(() => place.current, change.hash);
  return (
    <p ref={place}>
      <Button
        look="primary"
        aria-disabled={isRunning || waiting.click}
        {...waitMark(waiting.click, waiting)}
        onClick={() => {
          if (!isRunning && isMeant("click")) props.onWrite();
        }}
      >
        Write it as shown
      </Button>
    </p>
  );
}
