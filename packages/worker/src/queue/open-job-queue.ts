// Opens the queue that a url names. All engines are BullMQ's so far; a further engine is a further case here.

import { openPostgresBackends } from "./bull-postgres.ts";
import { openBullQueue } from "./bull-queue.ts";
import { openRedisBackends } from "./bull-redis.ts";
import type { JobQueue, JobQueueOptions } from "./job-queue.ts";
import { readQueueUrl, refuseScheme } from "./queue-error.ts";

export async function openJobQueue(url: string, options: JobQueueOptions = {}): Promise<JobQueue> {
  const address = readQueueUrl(url);
  switch (address.url.protocol) {
    case "postgres:":
    case "postgresql:":
      return openBullQueue(address, openPostgresBackends, options);
    case "redis:":
    case "rediss:":
      return openBullQueue(address, openRedisBackends, options);
    default:
      throw refuseScheme(address);
  }
}
