// Steps by their status.

import { SignMark } from "../call/sign-mark.tsx";

export function Counts(props: { counts: Readonly<Record<string, number>> }) {
  const shown = Object.entries(props.counts).filter(([, count]) => count > 0);
  return (
    <span class="counts">
      {shown.length === 0 && <span class="quiet">none</span>}
      {shown.map(([status, count]) => (
        <span key={status}>
          {count} <SignMark state={status} />
        </span>
      ))}
    </span>
  );
}
