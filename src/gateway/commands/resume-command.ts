import { usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { copyConversation } from '../cuts/copy-conversation.ts';
import { countOf } from '../cuts/cut.ts';
import { newestWithin, toHistory } from '../history/history.ts';
import { lastComplete } from '../history/last-complete.ts';
import type { Messages } from '../history/messages.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import { sightInCommon } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import { readByName } from '../workstreams/workstream-rows.ts';
import { SHOWN } from './command-texts.ts';
import { beginContext, endAlways } from './new-context.ts';

interface ResumeDeps {
  store: Store;
  messages: Messages;
}

/**
 * `/resume`: copies a saved conversation into this one. It finds only what everyone here perceives, because they all read
 * the copy, and the ids of a name that several have.
 */
export const createResumeCommand =
  ({ store, messages }: ResumeDeps) =>
  async (name: string, workstream: Workstream): Promise<void> => {
    if (name === '') throw new GatewayError('INVALID_REQUEST', `Usage: ${usageOf('resume')}`);
    const { data } = workstream;
    const row = await readByName(store, name, sightInCommon(data));
    if (!row)
      throw new GatewayError('NOT_FOUND', `No saved conversation ${SEEN_BY[data.visibility]} is called ${name}`);
    await workstream.endBackground('reset');
    const boundary = data.messageCount;
    const after = row.context_after_seq;
    const page = await messages.page(row.ws_id, { after, upTo: row.message_count, limit: SHOWN.messages });
    const upTo = lastComplete(page) ?? after;
    const parts = await messages.intactParts(row.ws_id, { after, upTo });
    const messageCount = boundary + countOf(parts);
    const copied = page.filter(({ seq }) => seq <= upTo).toReversed();
    const renumbered = copied.map((message, index) => ({ ...message, seq: messageCount - index })).reverse();
    const shown = newestWithin(toHistory(renumbered), SHOWN.chars);
    const over = endAlways(data);
    await store.commit({
      statements: [
        ...over.statements,
        ...beginContext(data.wsId, { after: boundary, cutCount: 0 }),
        ...copyConversation({ wsId: row.ws_id, parts, after, upTo }, data.wsId),
        setWorkstream(data.wsId, { title: row.title }), // so that lists show the current conversation
      ],
      events: {
        wsId: data.wsId,
        events: [{ type: 'clear_ui', after_seq: boundary }, { type: 'history', messages: shown }, ...over.events],
      },
    });
    data.contextAfterSeq = boundary;
    data.cutCount = 0;
    data.endGrants();
    data.messageCount = messageCount;
    data.title = row.title;
    data.usage = undefined;
    workstream.context.forget();
  };

const SEEN_BY = { shared: 'that everyone here sees', private: 'that the owner of this workstream sees' };
