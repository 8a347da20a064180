import { readdir, readFile, readlink } from 'node:fs/promises';

export interface CommandLine {
  pid: number;
  /** Program and arguments, separated by spaces. */
  words: string;
}

/** The other processes of this machine whose command line contains the text, in a sandbox or not. */
export async function commandLinesWith(text: string): Promise<CommandLine[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const lines = await Promise.all(pids.map(async (pid) => ({ pid, words: await wordsOf(pid) })));
  return lines.filter(({ pid, words }) => pid !== process.pid && words.includes(text));
}

/** Waits for a process in the middle of `exec`, which has a program but no command line. Empty for a kernel thread or an ended process. */
async function wordsOf(pid: number): Promise<string> {
  for (;;) {
    const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (words !== '') return words.replaceAll('\0', ' ').trim();
    const program = await readlink(`/proc/${pid}/exe`).catch(() => undefined);
    if (program === undefined) return '';
    await new Promise(setImmediate);
  }
}
