import type { NotificationRow } from '../../../protocol/methods/channels/channel.ts';
import type { Store } from '../store/store.ts';
import type { Channel } from './channel.ts';

interface Asked {
  channels: readonly Channel[];
  /** Whether the rows say why a message failed: that can name addresses. */
  withReasons: boolean;
}

/** The destinations of channels that list them, with what became of the messages to them. */
export async function readNotifications(store: Pick<Store, 'db'>, { channels, withReasons }: Asked) {
  const listed = channels.flatMap(({ name, destinations = [] }) =>
    destinations.length > 0 ? [{ name, destinations }] : [],
  );
  const rows = await Promise.all(
    listed.map(async ({ name, destinations }) => {
      const [counts, latest] = await Promise.all([readCounts(store, name), withReasons ? readLatest(store, name) : []]);
      return destinations.map((to): NotificationRow => {
        const ofThis = counts.filter(({ destination }) => destination === to);
        const of = (status: string) => ofThis.find((row) => row.status === status);
        const lastMs = of('delivered')?.lastMs;
        const why = latest.find(({ destination }) => destination === to)?.error;
        return {
          channel: name,
          name: to,
          waiting: Number(of('pending')?.count ?? 0),
          failed: Number(of('dead')?.count ?? 0),
          ...(lastMs != null && { lastOutAtMs: lastMs }),
          ...(why != null && { why }),
        };
      });
    }),
  );
  return rows.flat();
}

const readCounts = ({ db }: Pick<Store, 'db'>, provider: string) =>
  db
    .selectFrom('outbox')
    .select(({ fn }) => ['destination', 'status', fn.countAll<number>().as('count'), fn.max('ended_ms').as('lastMs')])
    .where('provider', '=', provider)
    .groupBy(['destination', 'status'])
    .execute();

/** The newest message of each destination that was tried. */
const readLatest = ({ db }: Pick<Store, 'db'>, provider: string) =>
  db
    .selectFrom('outbox')
    .select(['destination', 'error'])
    .where('seq', 'in', (inner) =>
      inner
        .selectFrom('outbox')
        .select(({ fn }) => fn.max('seq').as('seq'))
        .where('provider', '=', provider)
        .where(({ or, eb }) => or([eb('status', '<>', 'pending'), eb('error', 'is not', null)]))
        .groupBy('destination'),
    )
    .execute();
