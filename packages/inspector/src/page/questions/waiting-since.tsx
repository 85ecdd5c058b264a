// For how long a question has been waiting, counted while it is seen.

import { useEffect, useState } from "preact/hooks";
import { clockText, durationText } from "../parts/time-text.ts";

export function WaitingSince(props: { asked_at: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const asked = Date.parse(props.asked_at);
  if (Number.isNaN(asked)) return null;
  const whole = Math.floor(Math.max(0, now - asked) / 1000) * 1000;
  return (
    <span class="quiet" title={clockText(asked)}>
      waits for {durationText(whole).replace(".0 s", " s")}
    </span>
  );
}
