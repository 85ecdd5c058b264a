// One root run of a session at a time, in the order they were requested (LOOP-2).

export interface RootQueue {
  /** How many are before the next one. */
  readonly length: number;
  /** Settles when it is this one's turn. The returned function lets the next one in, and may be called early. */
  enter(): { readonly turn: Promise<void>; readonly leave: () => void };
}

const queues = new WeakMap<object, RootQueue>();

export function getRootQueue(session: object): RootQueue {
  const known = queues.get(session) ?? createQueue();
  queues.set(session, known);
  return known;
}

function createQueue(): RootQueue {
  let last: Promise<void> = Promise.resolve();
  let length = 0;
  return {
    get length() {
      return length;
    },
    enter() {
      const turn = last;
      let open = (): void => {};
      const left = new Promise<void>((resolve) => {
        open = resolve;
      });
      last = turn.then(() => left);
      length += 1;
      let inside = true;
      return {
        turn,
        leave() {
          if (!inside) return;
          inside = false;
          length -= 1;
          open();
        },
      };
    },
  };
}
