// Errors of a job queue. They carry no cause: drivers put urls, users and passwords into theirs.

import { messageOf, SoongError } from "@soong/core";

export type QueueErrorCode =
  | "queue_url"
  | "queue_package"
  | "queue_input"
  | "queue_failed"
  | "queue_closed";

export class QueueError extends SoongError<QueueErrorCode> {
  override readonly name = "QueueError";
}

/** The address of a queue, the part of it that may be shown, and its secrets. */
export interface QueueAddress {
  readonly url: URL;
  /** Without user, password and parameters. */
  readonly shown: string;
  readonly secrets: readonly string[];
}

const FORM = "Write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE or redis://HOST:PORT";

export function readQueueUrl(text: string): QueueAddress {
  if (!URL.canParse(text)) {
    throw new QueueError(
      "queue_url",
      `The url of the job queue cannot be read. ${FORM}; special characters of a password are percent-encoded.`,
    );
  }
  const url = new URL(text);
  const parameters = [...url.searchParams].flatMap(([name, value]) =>
    /pass|secret|token|key/i.test(name) ? [value] : [],
  );
  const secrets = [url.password, decode(url.password), ...parameters].filter((one) => one !== "");
  return { url, shown: `${url.protocol}//${url.host}${url.pathname}`, secrets };
}

export function refuseScheme({ url }: QueueAddress): QueueError {
  return new QueueError("queue_url", `There is no job queue for "${url.protocol}//". ${FORM}.`);
}

/** What a driver threw, as one sentence without secrets. */
export function asQueueError(
  thrown: unknown,
  { shown, secrets }: QueueAddress,
  what: string,
): QueueError {
  if (thrown instanceof QueueError) return thrown;
  let reason = explain(thrown);
  if ((thrown as { readonly code?: unknown } | undefined)?.code === INSUFFICIENT_PRIVILEGE) {
    reason +=
      ". GRANT this user CONNECT and CREATE on the database: the queue has a schema of its own";
  }
  for (const secret of secrets) reason = reason.replaceAll(secret, "***");
  return new QueueError("queue_failed", `The job queue at ${shown} ${what}: ${reason}`);
}

/** SQLSTATE. */
const INSUFFICIENT_PRIVILEGE = "42501";

/** Messages of ioredis. */
const NOT_CONNECTED = /enableOfflineQueue|max retries per request/;

function explain(thrown: unknown): string {
  // A host with several addresses, each of which failed.
  if (thrown instanceof AggregateError && thrown.message === "") {
    return [...new Set(thrown.errors.map(messageOf))].join("; ");
  }
  const message = messageOf(thrown);
  return NOT_CONNECTED.test(message) ? "it is not connected" : message;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
