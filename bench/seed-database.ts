import { statSync } from 'node:fs';
import { systemClock } from '../src/clock.ts';
import { OF_EVERYONE } from '../src/gateway/sharing/perception.ts';
import { openSqliteStore } from '../src/gateway/store/sqlite-store.ts';
import type { Statement } from '../src/gateway/store/store.ts';
import { insertWorkstream, toWorkstreamRow } from '../src/gateway/workstreams/workstream-rows.ts';
import { randomIds } from '../src/ids.ts';
import { createLog } from '../src/pino-log.ts';

interface Contents {
  workstreams: number;
  messagesEach: number;
  eventsEach: number;
  /** Sessions that were unloaded to make room; the others are closed. */
  unloaded?: number;
}

/** Fills a daemon's database with saved conversations through the store's commits. `OPEN` of them are open. */
export async function seedDatabase(path: string, contents: Contents): Promise<void> {
  const log = createLog({ level: 'silent', readable: false });
  await using store = await openSqliteStore({ path, clock: systemClock, log, durability: 'normal', bootId: 'bench' });
  for (let n = 0; n < contents.workstreams; n += 1) {
    const filled = store.commit({ statements: conversation(contents, stateOf(n, contents)) });
    if (n % 200 === 0) await filled;
  }
}

const OPEN = 40;
/** Stored in advance; otherwise the first start would write it to each open workstream. */
const ROOT = String(statSync('/').ino);

const stateOf = (n: number, { unloaded = 0 }: Contents): 0 | 1 | 2 => (n < OPEN ? 1 : n < OPEN + unloaded ? 2 : 0);

function conversation({ messagesEach, eventsEach }: Contents, loaded: 0 | 1 | 2): Statement[] {
  const nowMs = systemClock.now();
  const row = toWorkstreamRow({
    owned: OF_EVERYONE,
    wsId: randomIds.wsId(),
    workdir: '/',
    workdirIno: ROOT,
    nowMs,
  });
  const text = 'What was said in the course of a day, neither short nor long. '.repeat(5);
  return [
    insertWorkstream({ ...row, loaded, message_count: messagesEach }),
    {
      sql: `${NUMBERS} insert into messages select id, n, null, body, ms, message_checksum(id, n, null, body, ms) from (select ? as id, n, json_object('role', iif(n % 2, 'user', 'assistant'), 'content', ?, 'toolCalls', json_array()) as body, ? as ms from numbers)`,
      parameters: [messagesEach, row.ws_id, text, nowMs],
    },
    {
      sql: `${NUMBERS} insert into events select id, n, body, ms, event_checksum(id, n, body, ms) from (select ? as id, n, json_object('type', 'info', 'message', ?) as body, ? as ms from numbers)`,
      parameters: [eventsEach, row.ws_id, text, nowMs],
    },
  ];
}

const NUMBERS = 'with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?)';
