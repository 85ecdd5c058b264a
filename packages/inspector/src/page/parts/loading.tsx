// The state of an answer that is not there yet, or failed.

import { LinkButton } from "./button.tsx";
import type { Answer } from "../api/use-answer.ts";
import { CutText } from "./text.tsx";

export function ProblemText(props: { text: string; onRetry?: () => void }) {
  return (
    <p class="problem" role="alert">
      <span aria-hidden="true">⚠ </span>
      <CutText text={props.text} />{" "}
      {props.onRetry !== undefined && <LinkButton onClick={props.onRetry}>Try again</LinkButton>}
    </p>
  );
}

/** Above the value or instead of it: that it is being asked for, or why there is none. */
export function LoadState(props: { loaded: Answer<unknown>; what: string }) {
  const { loaded } = props;
  if (loaded.problem !== undefined) {
    return <ProblemText text={loaded.problem} onRetry={loaded.reload} />;
  }
  if (loaded.value === undefined && loaded.is_loading) {
    return <p class="quiet">Loading {props.what}…</p>;
  }
  return null;
}
