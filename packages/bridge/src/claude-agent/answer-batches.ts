// The host starts the calls of one answer one by one, and reports when all of them have ended. In between, a write that failed
// stops the calls after it, as in a turn of the kernel. Each agent of the host has its own answers.

export interface AnswerBatches {
  /** A call of this agent is about to start. */
  begin(id: string, agent: string): void;
  hasBegun(id: string): boolean;
  /** A call that changes something has failed. */
  fail(id: string, toolName: string): void;
  /** Why this call must not start, if it must not. */
  findStop(id: string): string | undefined;
  /** A call of the answer waits for the host's user: no other one can at the same time, also with the same id. */
  pause(id: string): boolean;
  /** All calls of the answer have ended. */
  end(agent: string): void;
  /** A new prompt: what was interrupted is over. */
  clear(): void;
}

export function createAnswerBatches(): AnswerBatches {
  const batches = new Map<string, Batch>();
  const agents = new Map<string, string>();
  const findBatch = (id: string): Batch | undefined => batches.get(agents.get(id) ?? "");

  return {
    begin(id, agent) {
      agents.set(id, agent);
      if (!batches.has(agent)) batches.set(agent, { failed: undefined, isPaused: false });
    },
    hasBegun: (id) => agents.has(id),
    fail(id, toolName) {
      const batch = findBatch(id);
      if (batch !== undefined) batch.failed ??= { id, toolName };
    },
    findStop(id) {
      const failed = findBatch(id)?.failed;
      return failed === undefined || failed.id === id
        ? undefined
        : `${failed.toolName} (${failed.id}) did not succeed and this call came after it`;
    },
    pause(id) {
      const batch = findBatch(id);
      if (batch === undefined) return true;
      const isFirst = !batch.isPaused;
      batch.isPaused = true;
      return isFirst;
    },
    end(agent) {
      batches.delete(agent);
      for (const [id, of] of agents) if (of === agent) agents.delete(id);
    },
    clear() {
      batches.clear();
      agents.clear();
    },
  };
}

interface Batch {
  failed: { readonly id: string; readonly toolName: string } | undefined;
  isPaused: boolean;
}
