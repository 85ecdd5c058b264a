// A taker in a process of its own. Prints the id of each job it takes, and holds it until it is killed.

import { openJobQueue } from "../../packages/worker/src/index.ts";
import type { TakerSettings } from "./taker-process.ts";

const { url, pool, lockMs } = JSON.parse(process.argv[2] ?? "") as TakerSettings;
const queue = await openJobQueue(url, { lockMs });
await queue.take(pool, {
  concurrency: 1,
  handle({ id }) {
    process.stdout.write(`${id}\n`);
    return new Promise(() => {});
  },
});
