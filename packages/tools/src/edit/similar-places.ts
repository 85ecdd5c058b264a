// Finds where a folded text comes closest to another that does not occur in it. Four, or for rarer ones
// eight, folded bytes in a row are a seed; seeds both texts have vote, the rarer the stronger, for how
// far one must be shifted to lie on the other. One pass over the file, for any size, and a bounded number of places after.

type Range = { start: number; end: number };

/** The best places first, none that shares less than half of the text. */
export function similarPlaces(file: Buffer, text: Buffer, limit: number): Range[] {
  const chosen: (Range & { likeness: number })[] = [];
  for (const { shift } of bestShifts(collectSeeds(file, text))) {
    if (chosen.length >= MOST_COMPARED) break;
    const start = Math.max(0, shift);
    const end = Math.min(file.length, Math.max(start + 1, shift + text.length));
    if (chosen.some((place) => start < place.end && place.start < end)) continue;
    chosen.push({ start, end, likeness: measureLikeness(file, start, end, text) });
  }
  return chosen
    .filter(({ likeness }) => likeness >= LEAST_LIKENESS)
    .toSorted((a, b) => b.likeness - a.likeness)
    .slice(0, limit)
    .map(({ start, end }) => ({ start, end }));
}

const MOST_SEEDS = 512;
const MOST_HITS = 32;
const MOST_COMPARED = 12;
const LEAST_LIKENESS = 0.5;

interface Seed {
  /** Where in the text. */
  at: number;
  count: number;
  /** The first places in the file. */
  hits: number[];
}

function collectSeeds(file: Buffer, text: Buffer): Seed[] {
  const stride = Math.max(1, Math.floor(text.length / MOST_SEEDS));
  const short = seedTable();
  const long = seedTable();
  eachKey(text, (at, four, eight) => {
    if (at % stride !== 0) return;
    plant(short, four, at - 3);
    if (at >= 7) plant(long, eight, at - 7);
  });
  if (short.seeds.size === 0) return [];
  eachKey(file, (at, four, eight) => {
    if (short.slots[findSlot(four)] === 1) strike(short, four, at - 3);
    if (at >= 7 && long.slots[findSlot(eight)] === 1) strike(long, eight, at - 7);
  });
  return [...short.seeds.values(), ...long.seeds.values()];
}

/** Calls back with the last four bytes and with a mix of the last eight, at each from the fourth on. */
function eachKey(bytes: Buffer, found: (at: number, four: number, eight: number) => void): void {
  let four = 0;
  let older = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    older = (older << 8) | (four >>> 24);
    four = (four << 8) | (bytes[at] ?? 0);
    if (at >= 3) found(at, four, Math.imul(older, 0x85eb_ca6b) ^ four);
  }
}

interface SeedTable {
  seeds: Map<number, Seed>;
  /** 1 where a key may be a seed: most of the file's keys are turned away here. */
  slots: Uint8Array;
}

function seedTable(): SeedTable {
  return { seeds: new Map(), slots: new Uint8Array(0x1_0000) };
}

function plant({ seeds, slots }: SeedTable, key: number, at: number): void {
  if (!seeds.has(key)) seeds.set(key, { at, count: 0, hits: [] });
  slots[findSlot(key)] = 1;
}

function strike({ seeds }: SeedTable, key: number, at: number): void {
  const seed = seeds.get(key);
  if (seed === undefined) return;
  seed.count += 1;
  if (seed.hits.length < MOST_HITS) seed.hits.push(at);
}

function findSlot(key: number): number {
  return Math.imul(key, 0x9e37_79b1) >>> 16;
}

interface Shift {
  score: number;
  /** The one with the most votes of those that vote together, and its votes. */
  shift: number;
  votes: number;
}

/** A little text more or less in between moves the rest, so shifts near each other vote together. */
function bestShifts(seeds: readonly Seed[]): Shift[] {
  const votesOf = new Map<number, number>();
  for (const { at, count, hits } of seeds) {
    for (const hit of hits) votesOf.set(hit - at, (votesOf.get(hit - at) ?? 0) + 1 / count);
  }
  const near = new Map<number, Shift>();
  for (const [shift, votes] of votesOf) {
    const half = Math.floor(shift / HALF_REACH);
    for (const slot of [half - 1, half]) {
      const known = near.get(slot) ?? { score: 0, shift, votes: 0 };
      known.score += votes;
      if (votes > known.votes) Object.assign(known, { shift, votes });
      near.set(slot, known);
    }
  }
  return [...near.values()].toSorted((a, b) => b.score - a.score || a.shift - b.shift);
}

const HALF_REACH = 24;

/** The share of the text's triples of bytes that the place has too. */
function measureLikeness(file: Buffer, start: number, end: number, text: Buffer): number {
  const wanted = triples(text.subarray(0, MOST_LIKENED));
  if (wanted.size === 0) return 0;
  const near = file.subarray(Math.max(0, start - HALF_REACH), end + HALF_REACH);
  const there = triples(near.subarray(0, MOST_LIKENED + 4 * HALF_REACH));
  let shared = 0;
  for (const triple of wanted) if (there.has(triple)) shared += 1;
  return shared / wanted.size;
}

const MOST_LIKENED = 8192;

function triples(bytes: Buffer): Set<number> {
  const found = new Set<number>();
  for (let at = 0; at + 3 <= bytes.length; at += 1) found.add(bytes.readUIntBE(at, 3));
  return found;
}
