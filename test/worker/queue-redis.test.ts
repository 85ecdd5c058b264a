// The job queue on Redis: what every engine does.

import { describe } from "vitest";
import { describeJobQueue } from "./queue-conformance.ts";
import { useRedis } from "./redis-server.ts";

describe("the job queue on Redis", () => {
  describeJobQueue(useRedis);
});
