import { openChecked } from '../support/clients/checked-client.ts';
import { type ClockedDaemon, startClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { consentAt, startAccountServer } from '../support/oidc/account-server.ts';
import { WebVisitor } from '../support/oidc/web-visitor.ts';
import { ask, HOUR_MS, PASSWORD } from './fill.ts';

interface Accounts {
  daemon: ClockedDaemon;
  /** Texts that differ between two runs, and what pictures have instead. */
  varying: readonly [string, string][];
}

const LOGIN = {
  issuer: 'https://login.example.org/realms/the-garden-and-everybody-who-works-in-it',
  clientId: 'headgate',
  clientSecret: 'a secret of the client',
  providerName: 'the Garden Society',
};

/**
 * A daemon with a provider through which people log in, and tool servers that act for people. Ada has an account at one of
 * them; a call needed one at the other.
 */
export async function startAccounts(opened: AsyncDisposableStack): Promise<Accounts> {
  const server = opened.use(await startAccountServer());
  const model = await startScriptedModel();
  opened.defer(() => model.close());
  const lab = { provider: 'openai-compatible', baseUrl: model.url, model: 'scripted' };
  const tools = { url: server.url, oauth: {}, autoApprove: true };
  const daemon = opened.use(
    await startClockedDaemon(
      {
        ...{ models: { lab }, defaultModel: 'lab', oidc: LOGIN },
        mcp: { servers: { 'harvest-book': tools, tracker: tools, 'weather-of-the-region': tools } },
      },
      { environment: {}, replace: { bwrap: { kind: 'missing' as const } } },
    ),
  );
  const operator = await openChecked(daemon);
  opened.defer(() => operator.socket.terminate());
  await addPeople(operator);
  const visitor = new WebVisitor();
  const login = await visitor.get(`${daemon.url}/v1/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ada', password: PASSWORD }),
  });
  const { jwt } = await login.json();
  const start = `${daemon.url}/v1/api/mcp/oauth/start?server=tracker`;
  const back = await consentAt(start, { as: 'ada', visitor, back: daemon.url });
  const ended = await visitor.get(back);
  await ended.body?.cancel();
  daemon.clock.jump(HOUR_MS);
  const ada = await openChecked(daemon, { token: jwt });
  opened.defer(() => ada.socket.terminate());
  model.when(
    'Write into the book',
    callTools({ name: 'mcp__harvest-book__connect', arguments: {} }),
    say('It waits for you.'),
  );
  const { wsId } = await ada.ask('workstream.create', { name: 'harvest' });
  await ask(ada, wsId, 'Write into the book.');
  daemon.clock.jump(HOUR_MS / 4);
  return {
    daemon,
    varying: [
      [`:${daemon.port}`, ':7717'],
      [`:${new URL(server.url).port}`, ':9000'],
    ],
  };
}

/** Ada logs in with a password, and as two people of the provider; Grace only through it. */
async function addPeople(operator: Awaited<ReturnType<typeof openChecked>>): Promise<void> {
  const password = { password: PASSWORD };
  for (const [username, displayName, role, subjects] of [
    [
      'ada',
      'Ada Lovelace',
      'builtin-admin',
      ['ada.lovelace', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6-of-the-old-directory'],
    ],
    ['grace', 'Grace Hopper', 'builtin-operator', ['grace.hopper']],
  ] as const) {
    const { userId } = await operator.ask('user.create', { username, displayName, ...password, roles: [role] });
    for (const subject of subjects) await operator.ask('oidc.identity.add', { userId, subject });
  }
}
