// What every engine of the job queue has to do, as tests of the port.

import { describeErrors, describeFailures } from "./queue-failures.ts";
import { describeJobs } from "./queue-jobs.ts";
import { describeTakers } from "./queue-takers.ts";

/** `useUrl`: of a server for this test alone, or the test is skipped. */
export function describeJobQueue(useUrl: () => Promise<string>): void {
  describeJobs(useUrl);
  describeTakers(useUrl);
  describeFailures(useUrl);
  describeErrors(useUrl);
}
