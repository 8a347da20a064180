import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../clock.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import type { ServerCall, Session } from '../session.ts';
import { ToolServer } from '../tool-server.ts';
import type { Accounts } from './accounts.ts';
import { ConsentProblem } from './consent-problem.ts';
import { NO_ACCOUNTS } from './no-accounts-fixture.ts';
import { UserSessions } from './user-sessions.ts';

const server = { name: 'notes', url: 'https://notes.example/mcp', oauth: { scopes: [] } };
const { signal } = new AbortController();

/** In `ws-NAME` that user asks, and in `ws-all` several. `gone` has no account. */
const accounts: Accounts = {
  ...NO_ACCOUNTS,
  userIn: async (wsId) => (wsId === 'ws-all' ? undefined : wsId.slice(3)),
  missing: async (_, user) => (user === 'gone' ? missing : undefined),
  needs: async () => missing,
};
const missing = new ConsentProblem({ code: 'mcp_consent_required', server: 'notes', detail: 'Connect an account.' });

function sessionOf(user: string, hangs?: Promise<void>): Session {
  return {
    about: `for ${user}`,
    list: async (what) => {
      if (what === 'resources') return [{ uri: `note://${user}`, name: 'note' }];
      return what === 'prompts' ? [{ name: `of ${user}` }] : [];
    },
    call: async () => {
      await hangs;
      return { kind: 'done', answer: { user } };
    },
    ended: new Promise(() => undefined),
    close: async () => undefined,
  };
}

function open(hangs?: Promise<void>) {
  const opened: string[] = [];
  const sessions = new UserSessions({
    server,
    accounts,
    create: (user) =>
      new ToolServer({
        name: 'notes',
        async open() {
          opened.push(user);
          return sessionOf(user, hangs);
        },
        onLists: () => undefined,
        idleMs: () => 60_000,
        clock: systemClock,
        log: recordingLog(),
      }),
  });
  return { sessions, opened };
}

const callOf = (more: Pick<ServerCall, 'wsId' | 'user'>): ServerCall => ({
  method: 'resources/read',
  params: {},
  signal,
  onProgress: () => undefined,
  onAsked: async () => ({ action: 'cancel' }),
  ...more,
});

const refused = { name: 'ConsentProblem' };

test('resources and prompts are those of the account of whoever asks, and so are calls', async (t) => {
  const { sessions, opened } = open();
  t.after(() => sessions.close());
  const uris = async (wsId: string) => (await sessions.offers(signal, { wsId })).resources.map(({ uri }) => uri);
  assert.deepEqual([await uris('ws-ada'), await uris('ws-bob')], [['note://ada'], ['note://bob']]);
  const { prompts } = await sessions.offers(signal, { user: 'ada' });
  assert.deepEqual(
    prompts.map(({ name }) => name),
    ['of ada'],
  );
  assert.deepEqual(await sessions.call(callOf({ wsId: 'ws-bob' })), { kind: 'done', answer: { user: 'bob' } });
  // A person who chooses a prompt is named without a workstream.
  assert.deepEqual(await sessions.call(callOf({ user: '' })), { kind: 'done', answer: { user: '' } });
  assert.deepEqual(opened, ['ada', 'bob', '']);
});

test('where several people take part, or without an account, nothing is asked', async (t) => {
  const { sessions, opened } = open();
  t.after(() => sessions.close());
  for (const asker of [{ wsId: 'ws-all' }, { wsId: 'ws-gone' }, {}]) {
    await assert.rejects(sessions.offers(signal, asker), refused);
    await assert.rejects(sessions.call(callOf(asker)), refused);
  }
  assert.deepEqual(opened, []);
});

test('a server that was changed ends its calls first, and begins none', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { sessions } = open(promise);
  const call = sessions.call(callOf({ wsId: 'ws-ada' }));
  await sessions.offers(signal, { wsId: 'ws-bob' });
  const retired = sessions.retire();
  await assert.rejects(sessions.call(callOf({ wsId: 'ws-eve' })), { message: /was changed meanwhile/ });
  resolve();
  assert.deepEqual(await call, { kind: 'done', answer: { user: 'ada' } });
  await retired;
});
