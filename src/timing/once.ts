/** Starts the work at the first call; every call returns the same promise. */
export function once<A extends unknown[], T>(work: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  let running: Promise<T> | undefined;
  return (...args) => {
    running ??= work(...args);
    return running;
  };
}
