/** Runs a task at the end of this turn of the event loop, or at the next flush. */
export type Defer = (task: () => void) => void;

/** Collects the writes of one turn of the event loop, so that they are made together. */
export interface EndOfTurn {
  defer: Defer;
  /** Runs the collected tasks now. Call it when no more will come. */
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
      for (const task of due.slice(ran)) defer(task); // the others run even if one throws
    }
  };
  return { defer, flush };
}
