import { systemClock } from '../src/clock.ts';
import type { AuditRecord } from '../src/gateway/audit/audit-record.ts';
import { APPEND_AUDIT } from '../src/gateway/audit/audit-trail.ts';
import { insertMemory } from '../src/gateway/memories/memory-rows.ts';
import { openSqliteStore } from '../src/gateway/store/sqlite-store.ts';
import { build, statementOf } from '../src/gateway/store/statements.ts';
import type { Statement } from '../src/gateway/store/store.ts';
import { addUsage } from '../src/gateway/usage/usage-rows.ts';
import { assignmentsOf } from '../src/gateway/users/assignments.ts';
import { createPasswords } from '../src/gateway/users/passwords.ts';
import { toUserRow } from '../src/gateway/users/user-rows.ts';
import { randomIds } from '../src/ids.ts';
import { createLog } from '../src/pino-log.ts';

interface Contents {
  users: number;
  auditRecords: number;
  memories?: number;
  /** Runs that have used tokens, within the last 90 days. */
  usedRuns?: number;
}

/** The password of each of them. Their names are `user-0`, `user-1` and so on. */
export const PASSWORD = 'correct horse battery staple';

/** Fills a daemon's database with users who may look, and with records of what they did. */
export async function seedAccounts(path: string, contents: Contents): Promise<void> {
  const { users, auditRecords, memories = 0, usedRuns = 0 } = contents;
  const log = createLog({ level: 'silent', readable: false });
  await using store = await openSqliteStore({ path, clock: systemClock, log, durability: 'normal', bootId: 'bench' });
  const passwordHash = await createPasswords().hash(PASSWORD);
  const userIds = Array.from({ length: users }, () => randomIds.id('user'));
  const inserts = userIds.flatMap((userId, n) => insertUser(n, { userId, passwordHash }));
  const records = Array.from({ length: auditRecords }, (_, n) => insertRecord(n, userIds[n % users] ?? ''));
  const texts = Array.from({ length: memories }, (_, n) => memory(n)).flatMap(insertMemory);
  const usage = Array.from({ length: usedRuns }, (_, n) => usageOf(n, userIds[n % users] ?? ''));
  const all = [...inserts, ...records, ...texts, ...usage];
  for (let n = 0; n < all.length; n += AT_ONCE) await store.commit({ statements: all.slice(n, n + AT_ONCE) });
}

const AT_ONCE = 1_000;

function insertUser(n: number, { userId, passwordHash }: { userId: string; passwordHash: string }): Statement[] {
  const wish = { username: `user-${n}`, displayName: `User ${n}`, passwordHash, roleIds: ['builtin-viewer'], by: '' };
  const row = toUserRow(wish, { userId, nowMs: systemClock.now() });
  return [statementOf(build.insertInto('users').values(row)), ...assignmentsOf(row, wish)];
}

function insertRecord(n: number, userId: string): Statement {
  const record: AuditRecord = {
    eventId: `event-${n}`,
    atMs: systemClock.now(),
    userId,
    username: `user-${n}`,
    principal: `user:${userId}`,
    action: ACTIONS[n % ACTIONS.length] ?? '',
    resourceType: 'workstream',
    resourceId: `ws-${n}`,
    outcome: n % 10 === 0 ? 'denied' : 'ok',
    detail: '{}',
    ipAddress: '127.0.0.1',
  };
  return {
    sql: APPEND_AUDIT,
    parameters: [JSON.stringify(record), record.atMs, record.action, record.userId],
  };
}

const memory = (n: number) => ({
  memory_id: `memory-${n}`,
  scope: 'global' as const,
  scope_id: '',
  type: 'project' as const,
  name: `memory_${n}`,
  description: 'words of every day',
  created_ms: systemClock.now(),
  updated_ms: systemClock.now(),
  last_accessed_ms: null,
  access_count: 0,
  origin_json: null,
  content: `${n} words that people and agents want remembered. `.repeat(20),
});

const DAY_MS = 86_400_000;

function usageOf(n: number, userId: string): Statement {
  const usage = { promptTokens: 1_000, completionTokens: 100, cacheCreationTokens: 0, cacheReadTokens: 0 };
  const model = { provider: 'openai', modelId: `model-${n % 5}` };
  const run = { runId: `run-${n}`, wsId: `ws-${n % 10_000}`, principal: `user:${userId}` };
  return addUsage(run, { usage, model }, systemClock.now() - (n % 90) * DAY_MS);
}

const ACTIONS = ['auth.login', 'workstream.approve', 'token.create', 'config.patch'];
