// What stands where an answer is not there yet, or will not come.

import type { Loaded } from "../api/use-loaded.ts";
import { CutText } from "./cut-text.tsx";

export function ProblemText(props: { text: string; onRetry?: () => void }) {
  return (
    <p class="problem" role="alert">
      <span aria-hidden="true">⚠ </span>
      <CutText text={props.text} />{" "}
      {props.onRetry !== undefined && (
        <button type="button" class="link" onClick={props.onRetry}>
          Try again
        </button>
      )}
    </p>
  );
}

/** Above the value or instead of it: that it is being asked for, or why there is none. */
export function LoadState(props: { loaded: Loaded<unknown>; what: string }) {
  const { loaded } = props;
  if (loaded.problem !== undefined) {
    return <ProblemText text={loaded.problem} onRetry={loaded.reload} />;
  }
  if (loaded.value === undefined && loaded.is_loading) {
    return <p class="quiet">Loading {props.what}…</p>;
  }
  return null;
}
