// Above the rows of a timeline: the marks of the time, and what the columns are.

import { type Extent, placeOf, ticksOf } from "./axis.ts";

const MOST_TICKS = 4;

export function TimelineHead(props: { extent: Extent; origin: number; now: number | undefined }) {
  const { extent, origin, now } = props;
  const nowAt = now === undefined ? undefined : placeOf(extent, now);
  return (
    <div class="timeline-head" role="row">
      <span role="columnheader">Run and call</span>
      <span role="columnheader" class="ticks" aria-label="Time since the session began">
        {ticksOf(extent, origin, MOST_TICKS).map(({ time, label }, index) => (
          <span key={index} class="tick" style={{ left: `${placeOf(extent, time)}%` }}>
            {label}
          </span>
        ))}
      </span>
      {nowAt !== undefined && nowAt >= 0 && nowAt <= 100 && (
        <span class="now-place" aria-hidden="true">
          <span class="now" style={{ left: `${nowAt}%` }} />
        </span>
      )}
      <span role="columnheader" class="duration">
        Took
      </span>
      <span role="columnheader">Outcome</span>
    </div>
  );
}
