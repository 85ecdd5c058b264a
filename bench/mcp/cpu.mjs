// The CPU time of processes, of all their threads: where other programs want the same cores it says more than the
// clock. Of other processes only Linux tells it.

import { readdirSync, readFileSync } from "node:fs";

/** This process and whatever it and its children have started. @returns {number[]} */
export function processes(pid = process.pid) {
  const children = threadFiles(pid, "children").flatMap((text) =>
    text.split(" ").filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap((child) => processes(child))];
}

/** In microseconds. @param {number} pid */
export function cpuTime(pid) {
  if (pid === process.pid) {
    const { user, system } = process.cpuUsage();
    return user + system;
  }
  const spent = threadFiles(pid, "schedstat").map((text) => Number(text.split(" ")[0]) / 1000);
  return spent.reduce((sum, time) => sum + time, 0);
}

/** One text a thread; none where the system has no such files. @param {number} pid @param {string} name */
function threadFiles(pid, name) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/${name}`, "utf8").trim());
  } catch {
    // There is no such system, or the process has ended.
    return [];
  }
}
