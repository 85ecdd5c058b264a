// How far the record has got. Stand-ins wait here for the fact by which they had answered.

export interface RecordPlace {
  /** The seq of the fact that is looked at. */
  reached: number;
  until(seq: number): Promise<void>;
  /** Lets go who waits for a fact up to this one. */
  release(seq: number): void;
}

export function createRecordPlace(): RecordPlace {
  let waiting: { readonly seq: number; readonly go: () => void }[] = [];
  const place: RecordPlace = {
    reached: 0,
    until: (seq) =>
      new Promise((go) => {
        if (seq <= place.reached) go();
        else waiting.push({ seq, go });
      }),
    release(seq) {
      const ready = waiting.filter((one) => one.seq <= seq);
      waiting = waiting.filter((one) => one.seq > seq);
      for (const { go } of ready) go();
    },
  };
  return place;
}
