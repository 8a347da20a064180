/** Runs a task when this turn of the event loop is over. */
export type Defer = (task: () => void) => void;
/** Collects tasks and runs them together when the running turn of the event loop is over. */
export function createTurn(): Defer {
  let tasks: (() => void)[] = [];
  const run = () => {
    const due = tasks;
    tasks = [];
    for (const task of due) task();
  };
  return (task) => {
    if (tasks.push(task) === 1) setImmediate(run);
  };
}
