import type { Log } from '../../log.ts';
import type { Store } from '../store/store.ts';
import type { Users } from '../users/users.ts';
import { readSendersOf } from './inbox/sender-rows.ts';
import type { LazyService } from './lazy-service.ts';

interface DropDeps {
  users: Pick<Users, 'boundsOf' | 'onChanged'>;
  store: Pick<Store, 'db'>;
  services: readonly Pick<LazyService, 'channel' | 'drop'>[];
  log: Log;
}

/** Drops the messages of the people who are linked to a user, once that user is disabled or deleted. */
export function dropWithUsers({ users, store, services, log }: DropDeps): void {
  const drop = async (userId: string) => {
    for (const { channel, sender_id: senderId } of await readSendersOf(store, userId))
      await services.find((service) => service.channel === channel)?.drop(senderId);
  };
  users.onChanged((userId) => {
    if (users.boundsOf(userId) !== undefined) return;
    drop(userId).catch((err: unknown) => log.error({ err, userId }, 'the messages of a user could not be dropped'));
  });
}
