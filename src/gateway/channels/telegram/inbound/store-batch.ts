import type { Update } from '@grammyjs/types';
import { isRecord } from '../../../../../protocol/is-record.ts';
import type { Clock } from '../../../../clock.ts';
import type { Log } from '../../../../log.ts';
import type { Store } from '../../../store/store.ts';
import { type ArrivedUpdate, putAccount, storeUpdates } from '../../inbox/inbox-rows.ts';
import { BotApiError } from '../wire/bot-api-error.ts';
import { placeOf } from './incoming.ts';

interface BatchDeps {
  store: Pick<Store, 'commit'>;
  clock: Pick<Clock, 'now'>;
  log: Pick<Log, 'warn'>;
}

/**
 * Updates, in the order in which they were made, are synced to disk: Telegram forgets them once it knows that they arrived. One
 * that cannot be read is passed over, because it would keep all that follow it from being stored.
 */
export async function storeBatch(
  of: { account: string; username: string },
  updates: readonly Update[],
  { store, clock, log }: BatchDeps,
): Promise<void> {
  const named = { channel: 'telegram', account: of.account };
  const nowMs = clock.now();
  const inOrder = updates.toSorted((a, b) => a.update_id - b.update_id);
  const arrived = inOrder.flatMap(toArrived);
  const passedOver = inOrder.length - arrived.length;
  if (passedOver > 0) log.warn({ passedOver }, 'telegram sent updates that cannot be read; they are passed over');
  const nextUpdate = (inOrder.at(-1)?.update_id ?? 0) + 1;
  const statements = [
    ...storeUpdates(named, arrived, nowMs),
    putAccount(named, { username: of.username, nextUpdate, nowMs }),
  ];
  await store.commit({ statements, durable: true });
}

/** Whether an update has a number, by which it is stored once, and after which the next one can be asked for. */
export const isUpdate = (value: unknown): value is Update =>
  isRecord(value) && Number.isSafeInteger(value.update_id) && Number(value.update_id) < Number.MAX_SAFE_INTEGER;

/** Those that have a number. Throws BotApiError if none has one, because they would come again at once. */
export function toNumbered(updates: readonly unknown[]): Update[] {
  const numbered = updates.filter(isUpdate);
  if (numbered.length > 0 || updates.length === 0) return numbered;
  throw new BotApiError('ambiguous', 'Telegram sent updates without numbers. Check channels.telegram.apiRoot.');
}

function toArrived(update: Update): ArrivedUpdate[] {
  try {
    return [{ updateId: String(update.update_id), ...placeOf(update), body: update }];
  } catch {
    return []; // its message or button has another form; the caller counts it
  }
}
