/** Starts the work at the first call; every call returns the same promise. */
export function once<A extends unknown[], T>(work: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  let running: Promise<T> | undefined;
  return (...args) => {
    running ??= work(...args);
    return running;
  };
}

/** As `once`, but after a failure the next call starts the work again. For what may work later. */
export function onceItWorks<A extends unknown[], T>(work: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  let running: Promise<T> | undefined;
  return (...args) => {
    running ??= work(...args).catch((error: unknown) => {
      running = undefined;
      throw error;
    });
    return running;
  };
}
