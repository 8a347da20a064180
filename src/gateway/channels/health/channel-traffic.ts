import type { Store } from '../../store/store.ts';

/** When messages last came from a chat service and went to it, and how many wait to be sent. */
export async function readTraffic({ db }: Pick<Store, 'db'>, channel: string) {
  const [times, waiting] = await Promise.all([
    db
      .selectFrom('channel_chats')
      .select(({ fn }) => [fn.max('last_in_ms').as('inMs'), fn.max('last_out_ms').as('outMs')])
      .where('channel', '=', channel)
      .executeTakeFirst(),
    db
      .selectFrom('outbox')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('status', '=', 'pending')
      .where('provider', '=', channel)
      .executeTakeFirst(),
  ]);
  return {
    ...(times?.inMs != null && { lastInAtMs: times.inMs }),
    ...(times?.outMs != null && { lastOutAtMs: times.outMs }),
    waiting: Number(waiting?.count ?? 0),
  };
}
export type ChannelTraffic = Awaited<ReturnType<typeof readTraffic>>;
