import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../src/clock.ts';
import { putChat } from '../src/gateway/channels/inbox/chat-rows.ts';
import { openSqliteStore } from '../src/gateway/store/sqlite-store.ts';
import type { Statement } from '../src/gateway/store/store.ts';
import { insertWorkstream, toWorkstreamRow } from '../src/gateway/workstreams/workstream-rows.ts';
import { randomIds } from '../src/ids.ts';
import { createLog } from '../src/pino-log.ts';

/** The number of the first person; the others follow. */
export const FIRST_PERSON = 100_001;
/** What each of them wrote before. */
const MESSAGES_EACH = 3;

/** Fills a daemon's database with so many direct chats at Telegram, whose conversations are closed. */
export async function seedChats(database: string, count: number): Promise<void> {
  const workdir = path.join(path.dirname(database), 'workspace');
  mkdirSync(workdir, { recursive: true });
  // Stored in advance; otherwise the first message would write it to its workstream.
  const folder = { workdir, workdirIno: String(statSync(workdir).ino) };
  const log = createLog({ level: 'silent', readable: false });
  await using store = await openSqliteStore({
    ...{ path: database, clock: systemClock, log, durability: 'normal', bootId: 'bench' },
  });
  for (let n = 0; n < count; n += 1) {
    const stored = store.commit({ statements: chat(FIRST_PERSON + n, folder) });
    if (n % 200 === 0) await stored;
  }
}

function chat(personId: number, folder: { workdir: string; workdirIno: string }): Statement[] {
  const nowMs = systemClock.now();
  const sessionKey = `telegram:dm:${personId}`;
  const row = toWorkstreamRow({
    ...{ owned: { ownerId: '', visibility: 'private' }, wsId: randomIds.wsId(), sessionKey },
    ...folder,
    nowMs,
  });
  const about = { channel: 'telegram', chat: String(personId), ws_id: row.ws_id };
  const times = { last_in_ms: nowMs, last_out_ms: nowMs, created_ms: nowMs };
  return [
    insertWorkstream({ ...row, loaded: 0, message_count: 2 * MESSAGES_EACH }),
    {
      sql: `${NUMBERS} insert into messages select id, n, null, body, ms, message_checksum(id, n, null, body, ms) from (select ? as id, n, json_object('role', iif(n % 2, 'user', 'assistant'), 'content', 'What was said.', 'toolCalls', json_array()) as body, ? as ms from numbers)`,
      parameters: [2 * MESSAGES_EACH, row.ws_id, nowMs],
    },
    putChat({
      ...{ ...about, ...times, kind: 'dm', session_key: sessionKey, title: 'Ada', last_sender: about.chat },
      owes_notice: 0,
    }),
    {
      sql: `${NUMBERS} insert into channel_inbox (channel, account, update_id, chat, sender_id, state, received_ms, ended_ms)
            select 'telegram', '4242', ?2 || '-' || n, ?2, ?2, 'accepted', ?3, ?3 from numbers`,
      parameters: [MESSAGES_EACH, about.chat, nowMs],
    },
    {
      sql: `${NUMBERS} insert into channel_chunks (message_id, chunk, channel, destination, state, provider_id, updated_ms)
            select 'answer:' || ?2 || n, 0, 'telegram', ?2, 'accepted', n, ?3 from numbers`,
      parameters: [MESSAGES_EACH, about.chat, nowMs],
    },
  ];
}

const NUMBERS = 'with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?1)';
