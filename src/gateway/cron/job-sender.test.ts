import assert from 'node:assert/strict';
import { test } from 'node:test';
import { putChat } from '../channels/inbox/chat-rows.ts';
import { ANYONE, DAEMON } from '../sharing/perception.ts';
import { build, statementOf } from '../store/statements.ts';
import { onlyWebhooks } from '../testing/only-webhooks.ts';
import { type CallAs, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';

const permissions = new Set([...ALL_PERMISSIONS].filter((permission) => permission !== 'workstreams.all'));
const user = (name: string) => ({ id: `user:${name}`, userId: name, permissions });
const [ADA, BOB] = [user('ada'), user('bob')];
const OPERATOR: CallAs = { id: 'operator' };
const UNKNOWN = 'Unknown destination: 101';

const noNetwork = () => Promise.reject(new Error('no network'));

/** The users themselves: a chat of somebody who may not log in is nobody's destination. */
async function addUsers(gateway: WholeGateway): Promise<void> {
  const rows = [ADA, BOB].map(({ userId }) => ({
    ...{ user_id: userId, username: userId, username_key: userId, display_name: userId, password_hash: null },
    ...{ disabled: 0, version: 1, created_ms: 1, updated_ms: 1, last_login_ms: null },
  }));
  const roles = [ADA, BOB].map(({ userId }) => ({
    ...{ user_id: userId, role_id: 'builtin-admin', assigned_by: 'operator', created_ms: 1 },
  }));
  const inserts = [build.insertInto('users').values(rows), build.insertInto('role_assignments').values(roles)];
  await gateway.store.commit({ statements: inserts.map((insert) => statementOf(insert)) });
  await gateway.restart();
}

/** A gateway with a private chat of Ada, and jobs that deliver to it. */
async function setUp({ allowed = [], approvers = [] }: { allowed?: string[]; approvers?: string[] } = {}) {
  const gateway = await wholeGateway({
    authenticator: {
      ...{ enabled: true, authenticate: () => undefined, endOf: () => undefined },
      viewerOf: (id) => (id === OPERATOR.id ? DAEMON : ([ADA, BOB].find((person) => person.id === id) ?? ANYONE)),
    },
    channelServices: {
      ...onlyWebhooks({ destinations: () => new Map(), fetch: noNetwork }),
      telegram: {
        settings: () => ({
          ...{
            token: '',
            apiRoot: '',
            hookUrl: undefined,
            alertMs: 60_000,
            dmPolicy: 'pairing',
            session: 'chat',
            ambiguous: 'once',
            streaming: 'direct',
            ackReaction: undefined,
          },
          ...{ allowFrom: new Set(allowed), approvers: new Set(approvers), groups: new Map() },
        }),
        fetch: noNetwork,
        fetchMedia: noNetwork,
      },
    },
  });
  await addUsers(gateway);
  const stop = new AbortController();
  const start = () => void gateway.gateway.run(stop.signal);
  start();
  /** A private chat of somebody, from which `last_sender` wrote. */
  const addChat = async (chat: string, as: CallAs, { atMs = 5, kind = 'dm' as 'dm' | 'group' } = {}) => {
    const { wsId } = await gateway.call('workstream.create', { visibility: 'private' }, as);
    const named = { channel: 'telegram', chat, kind, session_key: chat, ws_id: wsId, title: chat } as const;
    const row = { ...named, last_in_ms: atMs, last_out_ms: null, last_sender: chat, owes_notice: 0, created_ms: 1 };
    const linked = {
      channel: 'telegram',
      sender_id: chat,
      status: 'pending',
      name: '',
      user_id: as.userId ?? '',
    } as const;
    const times = { replied_ms: 1, created_ms: 1, updated_ms: 1 };
    const sender = build.insertInto('channel_senders').values({ ...linked, ...times });
    await gateway.store.commit({ statements: [putChat(row), statementOf(sender)] });
    return wsId;
  };
  const wsId = await addChat('101', ADA);
  return {
    ...{ gateway, wsId, start, addChat },
    async add(as: CallAs, turn: object): Promise<string> {
      const payload = { kind: 'agentTurn', message: 'x', deliver: true, ...turn } as const;
      const job = { schedule: { kind: 'every', everyMs: 60_000 }, sessionTarget: 'isolated' } as const;
      return (await gateway.call('cron.add', { ...job, wakeMode: 'next-heartbeat', payload }, as)).id;
    },
    change: (id: string, turn: object, as: CallAs) =>
      gateway.call(
        'cron.update',
        { id, patch: { payload: { kind: 'agentTurn', deliver: true, message: 'y', ...turn } } },
        as,
      ),
    /** Runs a job now; returns its error, or where its answer goes. */
    async run(id: string): Promise<string | undefined> {
      await gateway.call('cron.run', { id, mode: 'force' });
      const { entries } = await gateway.call('cron.runs', { id });
      const sent = await gateway.store.db.selectFrom('outbox').selectAll().orderBy('seq', 'desc').executeTakeFirst();
      return entries.at(-1)?.error ?? (sent && `${sent.provider} ${sent.destination}`);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

const CHAT = { channel: 'telegram', to: '101' };

test('a job delivers to a private chat only if the person perceives it who chose the destination', async () => {
  await using stage = await setUp();
  for (const as of [ADA, OPERATOR]) assert.equal(await stage.run(await stage.add(as, CHAT)), 'telegram 101');
  const id = await stage.add(BOB, CHAT);
  assert.equal(await stage.run(id), UNKNOWN);
  await stage.change(id, { ...CHAT, message: 'other words' }, ADA);
  assert.equal(await stage.run(id), UNKNOWN, 'the destination is still the choice of Bob');
  await stage.change(id, { ...CHAT, to: 'telegram:dm:101' }, ADA);
  assert.equal(await stage.run(id), 'telegram 101');
  await stage.change(id, CHAT, BOB);
  assert.equal(await stage.run(id), UNKNOWN);
});

test('the choice of the person survives a restart, and does not open private workstreams to jobs', async () => {
  await using stage = await setUp();
  const [id, note] = [await stage.add(ADA, CHAT), await stage.add(ADA, { to: stage.wsId })];
  await stage.gateway.restart();
  stage.start();
  assert.equal(await stage.run(id), 'telegram 101');
  assert.equal(await stage.run(note), `Unknown destination: ${stage.wsId}`);
});

const LAST = { channel: 'last' };
const NOTHING = 'deliver needs `to`: this session has neither received nor sent anything by a channel yet';

test('`last` of a job whose sessions have no chat is the latest direct chat of the person who chose the destination', async () => {
  await using stage = await setUp({ allowed: ['101', '102', '201', '-5'], approvers: [] });
  await stage.addChat('102', ADA, { atMs: 9 });
  await stage.addChat('103', ADA, { atMs: 10 }); // who may not write any more
  await stage.addChat('-5', ADA, { atMs: 11, kind: 'group' });
  assert.equal(await stage.run(await stage.add(ADA, LAST)), 'telegram 102');
  assert.equal(await stage.run(await stage.add(ADA, { channel: 'telegram' })), 'telegram 102');
  assert.equal(await stage.run(await stage.add(BOB, LAST)), NOTHING, 'the chats of others are nothing for Bob');
  assert.equal(await stage.run(await stage.add(OPERATOR, LAST)), NOTHING, 'the operator has no chat');
  await stage.addChat('201', OPERATOR, { atMs: 1 });
  const id = await stage.add(OPERATOR, LAST);
  assert.equal(await stage.run(id), 'telegram 201');
  const revoked = { channel: 'telegram', senderId: '201' };
  await stage.gateway.call('channel.revoke', revoked, OPERATOR);
  assert.equal(await stage.run(id), NOTHING, 'also where an earlier answer went');
  await stage.gateway.call('channel.restore', revoked, OPERATOR);
  assert.equal(await stage.run(id), 'telegram 201');
});

test('for `last` of a job, the chat of an approver comes before later ones', async () => {
  await using stage = await setUp({ allowed: ['101', '102'], approvers: ['101'] });
  await stage.addChat('102', ADA, { atMs: 9 });
  assert.equal(await stage.run(await stage.add(ADA, LAST)), 'telegram 101');
});
