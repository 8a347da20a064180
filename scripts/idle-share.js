import { cpus } from 'node:os';

/** Returns a function that gives the share of the processors' time, 0 to 1, that was idle since its last call. */
export function watchIdleShare(read = cpus) {
  let before = sumOf(read());
  return () => {
    const now = sumOf(read());
    const [idle, all] = [now.idle - before.idle, now.all - before.all];
    before = now;
    return all > 0 ? idle / all : 0;
  };
}

const sumOf = (processors) => {
  const sum = { idle: 0, all: 0 };
  for (const { times } of processors) {
    sum.idle += times.idle;
    for (const ms of Object.values(times)) sum.all += ms;
  }
  return sum;
};
