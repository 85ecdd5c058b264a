// What would be decided about a call, without making it, and what a yes would cover.

import { Mono } from "../parts/text.tsx";
import type { Explained } from "../../wire/index.ts";
import { ErrorText } from "../call/call-result.tsx";
import { DecisionChain } from "../call/call-decisions.tsx";
import { JsonCode } from "../call/json-code.tsx";
import { PreviewView } from "../call/preview.tsx";
import { SignMark } from "../parts/signs.tsx";
import { visibleLine } from "@soong/core";

export function ExplainedCall(props: { explained: Explained }) {
  const { explanation, session_scope, blocked } = props.explained;
  if (explanation.outcome === "refused") {
    return (
      <>
        <h3>It would be refused</h3>
        <p>
          <SignMark state={explanation.status} /> before anything is decided.
        </p>
        <ErrorText error={explanation.error} />
        {blocked !== undefined && <DecisionChain chain={blocked} />}
      </>
    );
  }
  const { outcome, reason, chain, plan, hooks, effects, observable_input } = explanation;
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
      {plan?.preview !== undefined && <PreviewView preview={plan.preview} />}
      <DecisionChain chain={chain} />
      {hooks.length > 0 && (
        <p>
          Hooks run first, and can only make it stricter: <Mono text={hooks.join(", ")} />
        </p>
      )}
      <p class="quiet">
        {Object.entries(effects)
          .filter(([, is]) => is === true)
          .map(([name]) => visibleLine(name.replaceAll("_", " ")))
          .join(", ")}
      </p>
      <details>
        <summary>The input after it was checked</summary>
        <JsonCode value={observable_input} label="Observable input" />
      </details>
    </>
  );
}

const HEADS = {
  allow: "It would be allowed",
  ask: "It would require approval",
  deny: "It would be denied",
} as const;
