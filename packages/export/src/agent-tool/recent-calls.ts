// The tools of calls that have ended, for facts that come after the end. Only of the latest ones: memory does not grow with
// the journal.

/** A journal delivers a result soon after its call has ended. */
const GENERATION = 4096;

export class RecentCalls {
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  add(invocation_id: string, tool_id: string): void {
    if (this.#young.size >= GENERATION) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(invocation_id, tool_id);
  }

  findTool(invocation_id: string): string | undefined {
    return this.#young.get(invocation_id) ?? this.#old.get(invocation_id);
  }

  has(invocation_id: string): boolean {
    return this.findTool(invocation_id) !== undefined;
  }
}
