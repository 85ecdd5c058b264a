// Whose turn it is at the keyboard: the line a user types stays open for as long as the conversation does, and a
// question goes before it. What had been typed by then is there again afterwards.

import type { ReadInput, Terminal, Typed } from "../terminal/terminal.ts";

export type Keyboard = ReturnType<typeof createKeyboard>;

export function createKeyboard(terminal: Pick<Terminal, "readInput">) {
  let draft = "";
  /** Works that wait or are being done. */
  let ahead = 0;
  let lastWork: Promise<unknown> = Promise.resolve();
  let reading: { readonly paused: AbortController; readonly settled: Promise<unknown> } | undefined;

  return {
    /** Begins with what was given back; taken up again after what came between. */
    async readInput(options: Omit<ReadInput, "initial">): Promise<Typed> {
      for (;;) {
        if (ahead > 0) await nobodyAhead();
        if (isOver(options)) return { kind: "aborted", text: draft };
        const typed = await read(options);
        if (typed.kind !== "aborted" || isOver(options)) return typed;
        draft = joinLines(draft, typed.text);
      }
    },
    /** Puts text into the line that is typed now or next, before what is there. */
    giveBack(text: string): void {
      draft = joinLines(draft, text);
      reading?.paused.abort();
    },
    /** Before the line that is being typed, one after the other. */
    first<T>(work: () => Promise<T>): Promise<T> {
      ahead += 1;
      const done = lastWork.then(async () => {
        reading?.paused.abort();
        await reading?.settled;
        try {
          return await work();
        } finally {
          ahead -= 1;
        }
      });
      lastWork = done.catch(() => {});
      return done;
    },
  };

  async function nobodyAhead(): Promise<void> {
    if (ahead === 0) return;
    await lastWork;
    await nobodyAhead();
  }

  async function read(options: Omit<ReadInput, "initial">): Promise<Typed> {
    const paused = new AbortController();
    const signals = options.signal === undefined ? [] : [options.signal];
    const initial = draft;
    draft = "";
    const typing = terminal.readInput({
      ...options,
      initial,
      signal: AbortSignal.any([paused.signal, ...signals]),
    });
    reading = { paused, settled: typing.catch(() => {}) };
    try {
      return await typing;
    } finally {
      reading = undefined;
    }
  }
}

function isOver({ signal }: Pick<ReadInput, "signal">): boolean {
  return signal?.aborted === true;
}

function joinLines(first: string, second: string): string {
  return first === "" || second === "" ? first + second : `${first}\n${second}`;
}
