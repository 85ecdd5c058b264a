// What both engines of BullMQ have to offer: connected backends, and a way back after a failure.

import type * as bullmq from "bullmq";
import type { IQueueBackend } from "bullmq";
import type { QueueAddress } from "./queue-error.ts";

/** A worker asks for jobs this often even if it is not notified of one. */
export const POLL_SECONDS = 2;

export type Bull = typeof bullmq;

/** What a queue or a worker of BullMQ is made with, apart from its connection. */
export type BackendOptions = Readonly<Record<string, number>>;

export interface ConnectedBackend {
  readonly backend: IQueueBackend;
  /** BullMQ wants it in its options, too. */
  readonly connection: object;
  /** After the queue or worker it was given to. */
  close(): Promise<void>;
}

export interface BullBackends {
  connect(
    name: string,
    options: BackendOptions,
    use: { readonly takes: boolean },
  ): Promise<ConnectedBackend>;
  /** Whether the tables were missing; then they have been created again. */
  repair(failure: unknown): Promise<boolean>;
  close(): Promise<void>;
}

/** Fails where the server cannot be reached. */
export type OpenBullBackends = (
  address: QueueAddress,
  bull: Bull,
  report: (error: unknown) => void,
) => Promise<BullBackends>;
