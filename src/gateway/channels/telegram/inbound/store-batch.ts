import type { Update } from '@grammyjs/types';
import type { Clock } from '../../../../clock.ts';
import type { Store } from '../../../store/store.ts';
import { putAccount, storeUpdates } from '../../inbox/inbox-rows.ts';
import { placeOf } from './incoming.ts';

/** Updates, in the order in which they were made, are synced to disk: Telegram forgets them once it knows that they arrived. */
export async function storeBatch(
  of: { account: string; username: string },
  updates: readonly Update[],
  { store, clock }: { store: Pick<Store, 'commit'>; clock: Pick<Clock, 'now'> },
): Promise<void> {
  const named = { channel: 'telegram', account: of.account };
  const nowMs = clock.now();
  const inOrder = updates.toSorted((a, b) => a.update_id - b.update_id);
  const arrived = inOrder.map((update) => ({ updateId: String(update.update_id), ...placeOf(update), body: update }));
  const nextUpdate = Math.max(...updates.map(({ update_id: id }) => id)) + 1;
  const statements = [
    ...storeUpdates(named, arrived, nowMs),
    putAccount(named, { username: of.username, nextUpdate, nowMs }),
  ];
  await store.commit({ statements, durable: true });
}
