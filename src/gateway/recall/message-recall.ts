import { sql } from 'kysely';
import { GatewayError } from '../../../protocol/errors.ts';
import { Taint } from '../../../protocol/events/rules.ts';
import type { HistorySource, RecalledMessage } from '../../agent/memory/history-source.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { createMessages } from '../history/messages.ts';
import { MOST_WORDS, toWordQuery } from '../memories/memory-words.ts';
import { type Owned, perceivedBy, sightInCommon } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import { catchUp } from './message-index.ts';
import { findRanked, type RankedMessage } from './ranked-messages.ts';

/** Searches conversations of the owner of a workstream, as far as all who see the workstream may read them. */
export function createMessageRecall({ store }: { store: Store }): HistorySource {
  const messages = createMessages(store);
  const serial = createSerialKeys();
  return {
    async search(wsId, query, { limit, signal }) {
      const words = toWordQuery(query);
      if (words.kind === 'too many words')
        throw new GatewayError('INVALID_REQUEST', `query has more than ${MOST_WORDS} different words`);
      if (words.kind === 'nothing') throw new GatewayError('INVALID_REQUEST', 'query has no word that can be searched');
      const owned = await ownedBy(store, wsId);
      const isComplete = await serial.run('index', () =>
        catchUp(store, sql<boolean>`workstreams.owner_id = ${owned.ownerId}`, signal),
      );
      const which = sql<boolean>`workstreams.owner_id = ${owned.ownerId} and ${perceivedBy(sightInCommon(owned))}`;
      const found = await findRanked({ store, messages }, { which, match: words.match, limit });
      return { messages: found.map(toRecalled), isIncomplete: !isComplete };
    },
  };
}

const toRecalled = ({ wsId, title, seq, createdMs, role, text, taint }: RankedMessage): RecalledMessage => ({
  wsId,
  ...(title !== null && { title }),
  seq,
  createdMs,
  role,
  text,
  ...(taint !== '' && { taint: Taint.parse(JSON.parse(taint)) }),
});

async function ownedBy({ db }: Pick<Store, 'db'>, wsId: string): Promise<Owned> {
  const row = await db
    .selectFrom('workstreams')
    .select(['owner_id', 'visibility'])
    .where('ws_id', '=', wsId)
    .executeTakeFirst();
  if (!row) throw new GatewayError('NOT_FOUND', 'Unknown workstream');
  return { ownerId: row.owner_id, visibility: row.visibility };
}
