// Many growable lists of integers in one buffer. Ten thousand tools make some twenty thousand short
// posting lists; an array object for each would cost more than what it holds. A list that outgrows
// its place moves to one twice the size, and its old place is given to the next list that fits.

export interface IntegerLists {
  /** The shared buffer; replaced when it grows, so read it anew after any change. */
  readonly data: Int32Array;
  /** Where the list begins in `data`. */
  start(list: number): number;
  length(list: number): number;
  /** Adds two integers at the end of the list. */
  appendPair(list: number, first: number, second: number): void;
  /** Removes the pair that begins with `first`; the last pair takes its place. */
  removePair(list: number, first: number): void;
  /** Replaces what the list holds. */
  assign(list: number, values: readonly number[]): void;
  clear(list: number): void;
}

export function createIntegerLists(): IntegerLists {
  let data = new Int32Array(64);
  let used = 0;
  let starts = new Int32Array(16);
  let lengths = new Int32Array(16);
  /** Exponent of the place's size; the place holds `2 ** class` integers. Zero: no place. */
  let classes = new Uint8Array(16);
  const freePlaces: number[][] = [];

  function ensureList(list: number): void {
    if (list < starts.length) return;
    const size = Math.max(list + 1, Math.ceil(starts.length * GROWTH));
    starts = grown(starts, new Int32Array(size));
    lengths = grown(lengths, new Int32Array(size));
    classes = grown(classes, new Uint8Array(size));
  }

  function takePlace(sizeClass: number): number {
    const free = freePlaces[sizeClass]?.pop();
    if (free !== undefined) return free;
    const place = used;
    used += 2 ** sizeClass;
    if (used > data.length) data = grown(data, new Int32Array(Math.ceil(used * GROWTH)));
    return place;
  }

  function releasePlace(list: number): void {
    const sizeClass = classes[list] ?? 0;
    if (sizeClass > 0) (freePlaces[sizeClass] ??= []).push(starts[list] ?? 0);
    classes[list] = 0;
  }

  /** Gives the list a place for `size` integers and copies over what it holds. */
  function reserve(list: number, size: number): void {
    ensureList(list);
    if (size <= capacity(list)) return;
    const sizeClass = Math.max(1, Math.ceil(Math.log2(size)));
    const place = takePlace(sizeClass);
    const from = starts[list] ?? 0;
    data.copyWithin(place, from, from + (lengths[list] ?? 0));
    releasePlace(list);
    starts[list] = place;
    classes[list] = sizeClass;
  }

  function capacity(list: number): number {
    const sizeClass = classes[list] ?? 0;
    return sizeClass === 0 ? 0 : 2 ** sizeClass;
  }

  function setLength(list: number, length: number): void {
    lengths[list] = length;
    if (length === 0) releasePlace(list);
  }

  return {
    get data() {
      return data;
    },
    start: (list) => starts[list] ?? 0,
    length: (list) => lengths[list] ?? 0,
    appendPair(list, first, second) {
      const length = lengths[list] ?? 0;
      reserve(list, length + 2);
      const at = (starts[list] ?? 0) + length;
      data[at] = first;
      data[at + 1] = second;
      lengths[list] = length + 2;
    },
    removePair(list, first) {
      const from = starts[list] ?? 0;
      const last = from + (lengths[list] ?? 0) - 2;
      for (let at = from; at <= last; at += 2) {
        if (data[at] !== first) continue;
        data[at] = data[last] ?? 0;
        data[at + 1] = data[last + 1] ?? 0;
        setLength(list, last - from);
        return;
      }
    },
    assign(list, values) {
      ensureList(list);
      setLength(list, 0);
      reserve(list, values.length);
      data.set(values, starts[list]);
      lengths[list] = values.length;
    },
    clear(list) {
      if (list < lengths.length) setLength(list, 0);
    },
  };
}

const GROWTH = 1.5;

function grown<T extends Int32Array | Uint8Array>(old: T, bigger: T): T {
  bigger.set(old);
  return bigger;
}
