/** Starts the work at the first call; every call returns the same promise. */
export function once<A extends unknown[]>(work: (...args: A) => Promise<void>): (...args: A) => Promise<void> {
  let running: Promise<void> | undefined;
  return (...args) => {
    running ??= work(...args);
    return running;
  };
}
