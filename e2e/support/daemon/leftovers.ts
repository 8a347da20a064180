import { readdir, readFile } from 'node:fs/promises';

/** Processes of this machine whose command line holds the text: what a tool left running, in a sandbox or not. */
export async function processesWith(text: string): Promise<string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''))); // gone
  return lines.filter((line) => line.includes(text)).map((line) => line.replaceAll('\0', ' ').trim());
}
