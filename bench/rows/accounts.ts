import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { INSPECTED, openInspector } from '../inspector.ts';
import type { LoginTasks } from '../load/logins.ts';
import type { NeighbourTasks } from '../load/neighbour.ts';
import { LeanSocket } from '../load/sockets.ts';
import { type Row, ratio } from '../row.ts';
import type { Stage } from '../stage.ts';

const USERS = 10_000;
const LOGINS_AT_ONCE = 200;
/** The watch of the event loop sees a pause between two of its ticks. */
const BEGUN_AFTER_MS = 10;
const SEEN_AFTER_MS = 20;

/** What a person looks at in a daemon that a large team has used for a year. */
const QUESTIONS: readonly (readonly [method: string, params: object])[] = [
  ['workstream.list', {}],
  ['workstream.dashboard', {}],
  ['workstream.saved', { limit: 500 }],
  ['workstream.saved', { search: 'no such words' }],
  ['sessions.list', {}],
  ['memory.list', { limit: 200 }],
  ['memory.admin.list', { limit: 200 }],
  ['memory.search', { query: 'words', limit: 50 }],
  ['memory.search', { query: 'words nowhere' }],
  ['user.list', {}],
  ['user.list', { query: '999' }],
  ['user.list', { offset: 9_000, limit: 1_000 }],
  ['role.list', {}],
  ['token.list', {}],
  ['audit.list', { limit: 200 }],
  ['audit.list', { limit: 200, outcome: 'denied', offset: 5_000 }],
  ['audit.list', { action: 'auth.login' }],
  ['audit.list', { action: 'auth.login', outcome: 'denied' }],
  ['audit.list', { untilMs: 1 }],
  ['audit.verify', {}],
  ['usage.report', { groupBy: 'user' }],
  ['usage.report', { sinceMs: 0, groupBy: 'hour' }],
  ['usage.get', {}],
  ['template.details', {}],
  ['wstemplate.details', {}],
  ['cron.list', {}],
  ['cluster.workstreams', {}],
  ['settings.list', {}],
];

/** How long one call holds up everybody else who is connected. */
export const pausesRow: Row = {
  name: 'pauses',
  what: 'longest pause of the daemon while it answers a list: 10,000 workstreams, 1,000,000 messages, 10,000 users, 100,000 audit records',
  anchor: 'the clock',
  unit: 'ms',
  target: { atMost: 20 },
  async open(stage) {
    const home = await largeHome(stage);
    const { port, token, stderr } = await stage.product({ home, env: { HEADGATE_MODEL: 'demo', ...INSPECTED } });
    const inspector = await openInspector(stderr());
    const socket = await LeanSocket.open({ port, token });
    const open = longestIn(await socket.request('workstream.list', {}));
    const questions = [
      ...QUESTIONS,
      ['workstream.history', { wsId: open, limit: 500 }] as const,
      ['chat.history', { sessionKey: open, limit: 1_000 }] as const,
    ];
    return async () => {
      const figures: Record<string, number> = {};
      for (const [method, params] of questions) {
        await inspector.watchLoop();
        await sleep(BEGUN_AFTER_MS);
        const answer = await socket.request(method, params);
        if (!answer.includes('"ok":true')) throw new Error(`${method}: ${answer}`);
        await sleep(SEEN_AFTER_MS);
        figures[`${method} ${JSON.stringify(params)}`] = await inspector.loopMaxMs();
      }
      return { value: Math.max(...Object.values(figures)), figures };
    };
  },
};

export const loginStormRow: Row = {
  name: 'login-storm',
  what: `99th percentile of the wait for a WebSocket answer while ${LOGINS_AT_ONCE} users log in at once, again and again`,
  anchor: 'the same without logins',
  unit: 'x',
  target: { atMost: 2 },
  async open(stage) {
    const home = await emptyHome(stage);
    const { accounts, password } = await stage.programs.seeds();
    await accounts(path.join(home, 'headgate.db'), { users: 1_000, auditRecords: 0 });
    const { port, token } = await stage.product({ home });
    const logins = stage.load<LoginTasks>('logins');
    const neighbour = stage.load<NeighbourTasks>('neighbour');
    const p99 = async () => {
      const waits = await neighbour.ask('ask', { port, token, count: stage.quick ? 4 : 20, each: 250 });
      return waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)] ?? Number.NaN;
    };
    return async () => {
      const anchor = await p99();
      await logins.ask('begin', { port, atOnce: LOGINS_AT_ONCE, users: 1_000, password });
      const product = await p99();
      const loggedIn = await logins.ask('end', undefined);
      return ratio({ product, anchor }, { loggedIn });
    };
  },
};

async function emptyHome(stage: Stage): Promise<string> {
  const home = path.join(await stage.folder(), 'home');
  await mkdir(home, { mode: 0o700 });
  return home;
}

async function largeHome(stage: Stage): Promise<string> {
  const home = await emptyHome(stage);
  const database = path.join(home, 'headgate.db');
  const seeds = await stage.programs.seeds();
  const workstreams = stage.quick ? 500 : 10_000;
  await seeds.database(database, { workstreams, messagesEach: 100, eventsEach: 20, unloaded: workstreams / 2 });
  const [users, many] = stage.quick ? [500, 1_000] : [USERS, 100_000];
  await seeds.accounts(database, { users, auditRecords: many, memories: users, usedRuns: many });
  return home;
}

/** The open workstream with the most messages. */
function longestIn(answer: string): string | undefined {
  const rows: { wsId: string; messageCount: number }[] = JSON.parse(answer).payload.workstreams;
  return rows.sort((a, b) => b.messageCount - a.messageCount)[0]?.wsId;
}
