/** Runs a task when this turn of the event loop is over, or at the next flush. */
export type Defer = (task: () => void) => void;

/** Collects what a turn of the event loop wants to write, so that it is written together. */
export interface EndOfTurn {
  defer: Defer;
  /** Runs the collected tasks now: no more is to come. */
  flush(): void;
}

export function createEndOfTurn(): EndOfTurn {
  let tasks: (() => void)[] = [];
  const defer: Defer = (task) => {
    if (tasks.push(task) === 1) setImmediate(flush);
  };
  const flush = () => {
    const due = tasks;
    tasks = [];
    let ran = 0;
    try {
      for (const task of due) {
        ran += 1;
        task();
      }
    } finally {
      for (const task of due.slice(ran)) defer(task); // one that throws does not take the others with it
    }
  };
  return { defer, flush };
}
