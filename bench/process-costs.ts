import { readdirSync, readFileSync } from 'node:fs';

/** The processor time of all threads of a process so far, in milliseconds, from Linux's /proc. */
function cpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + onCpuNs(`/proc/${pid}/task/${thread}/schedstat`), 0) / 1e6;
}

/** The resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) * 1024;
}

/** How much work a process does per second of processor time; `work` returns the amount. */
export async function perCpuSecond(pid: number, work: () => Promise<number>): Promise<number> {
  const before = cpuMs(pid);
  const amount = await work();
  return (amount * 1000) / (cpuMs(pid) - before);
}

function onCpuNs(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ', 1)[0]);
  } catch {
    return 0; // the thread has ended
  }
}
