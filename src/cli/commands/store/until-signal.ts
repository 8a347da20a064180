/** Work that a first signal stops in order, such as before the next batch. A second signal ends the process at once. */
export async function untilSignal<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  const release = () => {
    for (const name of SIGNALS) process.off(name, stop);
  };
  const stop = () => {
    release();
    stopping.abort();
  };
  for (const name of SIGNALS) process.on(name, stop);
  try {
    return await work(stopping.signal);
  } finally {
    release();
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
