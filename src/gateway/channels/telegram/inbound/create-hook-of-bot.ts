import type { Update } from '@grammyjs/types';
import type { Clock } from '../../../../clock.ts';
import type { Log } from '../../../../log.ts';
import type { Store } from '../../../store/store.ts';
import { isSameText } from '../../calls/same-text.ts';
import type { ChannelHook } from '../../channel-hook.ts';
import type { CalledBot } from '../listen-for-calls.ts';
import { isUpdate, storeBatch } from './store-batch.ts';

/** An update has one message of at most 4 096 characters, perhaps with another one that it answers. */
const MAX_BYTES = 1024 * 1024;

interface HookDeps {
  called: CalledBot;
  store: Pick<Store, 'commit'>;
  /** Updates were stored. */
  onStored(account: string): Promise<void>;
  clock: Pick<Clock, 'now'>;
  log: Pick<Log, 'warn'>;
}

/** Receives updates. Telegram sends each of them again until it gets a 200; it is stored once. */
export const createHookOfBot = ({ called, store, onStored, clock, log }: HookDeps): ChannelHook => ({
  maxBytes: MAX_BYTES,
  async receive({ headers, body }) {
    const given = headers['x-telegram-bot-api-secret-token'];
    if (!isSameText(typeof given === 'string' ? given : '', called.secret)) return false;
    const update = toUpdate(body);
    if (update === undefined) return true;
    await storeBatch(called, [update], { store, clock, log });
    await onStored(called.account);
    return true;
  },
});

/** Undefined for a body that is no update: there is nothing in it to be read again. */
function toUpdate(body: Buffer): Update | undefined {
  try {
    const update: unknown = JSON.parse(body.toString('utf8'));
    return isUpdate(update) ? update : undefined;
  } catch {
    return undefined;
  }
}
