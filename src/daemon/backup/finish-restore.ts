import { lockHome } from '../../gateway/store/home-lock.ts';
import { asStartError } from '../as-start-error.ts';
import { finishPutBack } from './put-back.ts';

/** Completes a restore that was killed. Throws StartError while another process uses the home. */
export async function finishRestore(home: string): Promise<void> {
  const lock = await asStartError(() => lockHome(home));
  try {
    await asStartError(() => finishPutBack(home));
  } finally {
    lock.release();
  }
}
