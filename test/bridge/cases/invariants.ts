// What holds with a bridge in every case.

import type { Observation } from "../scenario.ts";
import { endsOnRecord, findProblem, type Check } from "./read-observation.ts";

export function checkInvariants(seen: Observation): string | undefined {
  return findProblem(
    [seen.facts.length > 0, "nothing is on record"],
    endsOnRecord(seen),
    pairsUp(seen),
  );
}

/** Providers refuse a request in which a call has no result, or a result no call. */
function pairsUp({ requests }: Observation): Check {
  const wrong = requests.find(
    ({ calls, results }) =>
      calls.toSorted().join() !==
      results
        .map(({ id }) => id)
        .toSorted()
        .join(),
  );
  const ids = wrong?.results.map(({ id }) => id).join(", ");
  return [wrong === undefined, `a request has calls ${wrong?.calls.join(", ")} and results ${ids}`];
}
