// What a user does first with the installed package: name the server of the job queue. Without an engine beside it that ends in
// what to install.

import { openJobQueue, QueueError } from "@soong/worker";

try {
  await openJobQueue("postgres://127.0.0.1:1/none");
  throw new Error("a queue without a server was opened");
} catch (error) {
  if (!(error instanceof QueueError) || error.code !== "queue_package") throw error;
}
