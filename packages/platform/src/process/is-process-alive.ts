// Whether a process runs under that id. Ids are reused: where that matters, compare when it was started, too.

export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Only "no such process" is an answer: a process of another user is alive, too.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
