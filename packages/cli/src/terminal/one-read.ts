// One read at a time, and what ends it from outside: Ctrl-C, the end of the terminal, the caller's signal.
// Without a read, whoever listens is told.

export interface Stoppable {
  stop(why: "interrupt" | "end" | "aborted"): void;
}

export interface OneRead<Read extends Stoppable> {
  readonly current: Read | undefined;
  /** Once the terminal is gone, every read has ended. */
  begin<Answer>(options: BeginRead<Read, Answer>): Promise<Answer>;
  interrupted(): void;
  /** The terminal is gone: what is read ends, and so does all that is read later. */
  lost(): void;
  /** The same, and no one has to be told. */
  close(): void;
  onInterrupt(listener: () => void): () => void;
}

export interface BeginRead<Read, Answer> {
  readonly signal: AbortSignal | undefined;
  readonly ended: Answer;
  readonly aborted: Answer;
  readonly start: (done: (answer: Answer) => void) => Read;
}

/** `unheard`: Ctrl-C with no one to tell. */
export function createOneRead<Read extends Stoppable>(unheard: () => void): OneRead<Read> {
  const listeners = new Set<() => void>();
  let current: Read | undefined;
  let isOver = false;

  return {
    get current() {
      return current;
    },
    async begin({ signal, ended, aborted, start }) {
      if (current !== undefined)
        throw new Error("Something is being read from the terminal already");
      if (isOver) return ended;
      if (signal?.aborted === true) return aborted;
      const abort = (): void => current?.stop("aborted");
      signal?.addEventListener("abort", abort);
      try {
        return await new Promise<typeof ended>((resolve) => {
          current = start((answer) => {
            current = undefined;
            resolve(answer);
          });
        });
      } finally {
        signal?.removeEventListener("abort", abort);
      }
    },
    interrupted() {
      if (current !== undefined) current.stop("interrupt");
      else if (listeners.size === 0) unheard();
      else for (const listener of listeners) listener();
    },
    lost() {
      if (isOver) return;
      isOver = true;
      if (current !== undefined) current.stop("end");
      // What is under way has lost whoever it was for.
      else for (const listener of listeners) listener();
    },
    close() {
      isOver = true;
      current?.stop("end");
    },
    onInterrupt(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
