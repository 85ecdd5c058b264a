import { expect, it } from "vitest";
import { createLane } from "./lane.ts";

const never = new AbortController().signal;
const soon = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

it("lets so many in, and the others in the order they came", async () => {
  const lane = createLane(2);
  const entered: number[] = [];
  const places = [1, 2, 3, 4].map(async (who) => {
    const place = await lane.enter(never);
    entered.push(who);
    return place;
  });
  await soon();
  expect(entered).toEqual([1, 2]);
  (await places[1])?.leave();
  (await places[1])?.leave();
  await soon();
  expect(entered).toEqual([1, 2, 3]);
  (await places[0])?.leave();
  await soon();
  expect(entered).toEqual([1, 2, 3, 4]);
});

it("gives the place of one who waits for the user to another, and queues for it again", async () => {
  const lane = createLane(1);
  const first = await lane.enter(never);
  first.leave();
  const second = await lane.enter(never);
  let isBack = false;
  const back = first.again().then(() => {
    isBack = true;
  });
  await soon();
  expect(isBack).toBe(false);
  second.leave();
  await back;
  expect(isBack).toBe(true);
});

it("keeps no place for one who gave up waiting", async () => {
  const lane = createLane(1);
  const first = await lane.enter(never);
  const gone = new AbortController();
  const waits = lane.enter(gone.signal);
  gone.abort();
  const place = await waits;
  place.leave();
  first.leave();
  const third = await lane.enter(never);
  let fourth = false;
  void lane.enter(never).then(() => {
    fourth = true;
  });
  await soon();
  expect(fourth).toBe(false);
  third.leave();
  await soon();
  expect(fourth).toBe(true);
});

it("has its place back once, however often it is asked for, and not at all when it has ended", async () => {
  const lane = createLane(1);
  const first = await lane.enter(never);
  first.leave();
  const second = await lane.enter(never);
  const both = [first.again(), first.again()];
  second.leave();
  await Promise.all(both);
  first.leave();
  const third = await lane.enter(never);
  void first.again();
  first.end();
  third.end();
  await soon();
  await first.again();
  let entered = 0;
  for (let count = 0; count < 2; count += 1) void lane.enter(never).then(() => (entered += 1));
  await soon();
  expect(entered).toBe(1);
});
