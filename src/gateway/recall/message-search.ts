import { sql } from 'kysely';
import { GatewayError } from '../../../protocol/errors.ts';
import type { FoundMessage } from '../../../protocol/methods/conversation/listing.ts';
import type { Models } from '../../agent/providers/model.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { createMessages } from '../history/messages.ts';
import { type Narrowing, narrowedTo } from '../listing/narrowing.ts';
import { MOST_WORDS, toWordQuery } from '../memories/memory-words.ts';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import { toExcerpt } from './excerpt.ts';
import { catchUp } from './message-index.ts';
import { findRanked } from './ranked-messages.ts';

interface Query extends Narrowing {
  query: string;
  limit?: number | undefined;
}

interface SearchDeps {
  store: Store;
  models: Pick<Models, 'current'>;
}

export interface MessageSearch {
  /** The messages that the viewer perceives with all words of the query, the best first. */
  find(query: Query, viewer: Viewer, signal: AbortSignal): Promise<{ messages: FoundMessage[]; isIncomplete: boolean }>;
}

const LIMIT = 20;

/** Searches the conversations for people; message-recall.ts does for agents. */
export function createMessageSearch({ store, models }: SearchDeps): MessageSearch {
  const messages = createMessages(store);
  const serial = createSerialKeys();
  return {
    async find({ query, limit = LIMIT, ...narrowing }, viewer, signal) {
      const words = toWordQuery(query);
      if (words.kind === 'too many words')
        throw new GatewayError('INVALID_REQUEST', `query has more than ${MOST_WORDS} different words`);
      if (words.kind === 'nothing') return { messages: [], isIncomplete: false };
      const which = sql<boolean>`${perceivedBy(viewer)} and ${narrowedTo(narrowing, models.current())}`;
      const isComplete = await serial.run('index', () => catchUp(store, which, signal));
      const found = await findRanked({ store, messages }, { which, match: words.match, limit });
      return {
        messages: found.map(({ wsId, givenName, title, generatedName, seq, role, createdMs, text }) => ({
          wsId,
          name: givenName ?? title ?? generatedName,
          seq,
          role,
          createdMs,
          excerpt: toExcerpt(text, query),
        })),
        isIncomplete: !isComplete,
      };
    },
  };
}
