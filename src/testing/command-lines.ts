import { readdir, readFile, readlink } from 'node:fs/promises';

export interface CommandLine {
  pid: number;
  /** Separated by spaces. */
  words: string;
}

/** The other processes of this machine whose command line holds the text: what a command left running, in a sandbox or not. */
export async function commandLinesWith(text: string): Promise<CommandLine[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const lines = await Promise.all(pids.map(async (pid) => ({ pid, words: await wordsOf(pid) })));
  return lines.filter(({ pid, words }) => pid !== process.pid && words.includes(text));
}

/** A process in the middle of `exec` has a program and no words yet. A kernel thread, or one that has ended, has neither. */
async function wordsOf(pid: number): Promise<string> {
  for (;;) {
    const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (words !== '') return words.replaceAll('\0', ' ').trim();
    const program = await readlink(`/proc/${pid}/exe`).catch(() => undefined);
    if (program === undefined) return '';
    await new Promise(setImmediate);
  }
}
