import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { lockHome } from '../../gateway/store/home-lock.ts';
import { isStaged } from '../../home/restore-journal.ts';
import { asStartError } from '../as-start-error.ts';
import { finishPutBack } from './put-back.ts';

/**
 * Completes a restore that was killed, or removes what it had unpacked before it moved anything. Returns what a person should know.
 * Throws StartError while another process uses the home.
 */
export async function finishRestore(home: string): Promise<string[]> {
  const lock = await asStartError(() => lockHome(home));
  try {
    const aside = await asStartError(() => finishPutBack(home));
    const staged = (await readdir(home)).filter(isStaged);
    for (const name of staged) await rm(path.join(home, name), { recursive: true, force: true });
    return aside === undefined ? [] : [await toNotice(aside)];
  } finally {
    lock.release();
  }
}

async function toNotice(aside: string): Promise<string> {
  const isEmpty = await rmdir(aside).then(
    () => true,
    () => false, // it holds the former files
  );
  return `A restore that was interrupted has been completed.${isEmpty ? '' : ` The former files are in ${aside}.`}`;
}
