// The interface of both engines of BullMQ: connected backends, and a repair after a failure.

import type * as bullmq from "bullmq";
import type { IQueueBackend } from "bullmq";
import type { QueueAddress } from "./queue-error.ts";

/** A worker asks for jobs this often even if it is not notified of one. */
export const POLL_SECONDS = 2;

export type Bull = typeof bullmq;

/** The options of a queue or a worker of BullMQ, without its connection. */
export type BackendOptions = Readonly<Record<string, number>>;

export interface ConnectedBackend {
  readonly backend: IQueueBackend;
  /** BullMQ also requires it in its options. */
  readonly connection: object;
  /** Call it after the queue or worker that uses the backend is closed. */
  close(): Promise<void>;
}

export interface BullBackends {
  connect(
    name: string,
    options: BackendOptions,
    use: { readonly takes: boolean },
  ): Promise<ConnectedBackend>;
  /** Creates missing tables again. Returns whether some were missing. */
  repair(failure: unknown): Promise<boolean>;
  close(): Promise<void>;
}

/** Rejects if the server cannot be reached. */
export type OpenBullBackends = (
  address: QueueAddress,
  bull: Bull,
  report: (error: unknown) => void,
) => Promise<BullBackends>;
