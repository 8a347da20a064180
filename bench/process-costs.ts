import { readdirSync, readFileSync } from 'node:fs';

/** Processor time a process has used so far, all its threads together, in milliseconds. From Linux's /proc, which counts nanoseconds. */
function cpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + onCpuNs(`/proc/${pid}/task/${thread}/schedstat`), 0) / 1e6;
}

/** Memory of a process that lies in the machine's, in bytes. */
export function residentBytes(pid: number): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) * 1024;
}

/** How much work a process does in a second of processor time; `work` answers how much it was. */
export async function perCpuSecond(pid: number, work: () => Promise<number>): Promise<number> {
  const before = cpuMs(pid);
  const amount = await work();
  return (amount * 1000) / (cpuMs(pid) - before);
}

function onCpuNs(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ', 1)[0]);
  } catch {
    return 0; // the thread ended while we counted
  }
}
