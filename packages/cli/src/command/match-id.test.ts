import { expect, test } from "vitest";
import { filterById, matchId, type IdSubject } from "./match-id.ts";

interface Task {
  readonly id: string;
  readonly title: string;
}

const TASKS: readonly Task[] = [
  { id: "task_0ab1", title: "One\u001b[31m" },
  { id: "task_0ab2", title: "Two" },
  { id: "task_0cd", title: "Three" },
  { id: "0ab", title: "Named by its maker" },
];
const SUBJECT: IdSubject<Task> = {
  kind: "task",
  id: ({ id }) => id,
  describe: ({ title }) => title,
  hint: "`soong tasks` lists them.",
};

const match = (given: string): string => matchId(given, TASKS, SUBJECT).title;

test("an id is typed whole, as a unique prefix, or without its kind; a whole one counts more than others it begins", () => {
  expect(match("task_0ab2")).toBe("Two");
  expect(match("task_0c")).toBe("Three");
  expect(match("0c")).toBe("Three");
  expect(match("0ab")).toBe("Named by its maker");
});

test("one that begins several lists them, and one that begins none names the nearest", () => {
  expect(() => match("task_0ab")).toThrow(
    "task_0ab begins the ids of 2 tasks; give more of it:\n  task_0ab1  One",
  );
  expect(() => match("task_0xd")).toThrow(
    "There is no task task_0xd. Did you mean task_0cd? `soong tasks` lists them.",
  );
  expect(() => match("0xd")).toThrow("Did you mean task_0cd?");
  expect(() => match("nothing like it")).toThrow(
    "There is no task nothing like it. `soong tasks` lists them.",
  );
  expect(filterById("", TASKS, SUBJECT)).toEqual([]);
});
