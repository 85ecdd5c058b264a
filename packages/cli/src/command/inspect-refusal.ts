// What goes wrong behind the page, as the page tells it: the same sentences that commands end with.

import { InspectorError } from "@soong/inspector";
import { EXIT, failureOf } from "../output/index.ts";

export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InspectorError) throw error;
    const { message, exitCode } = failureOf(error);
    throw new InspectorError(exitCode === EXIT.usage ? "bad_request" : "failed", message);
  }
}
