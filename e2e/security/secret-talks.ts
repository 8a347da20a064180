import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import { COMMANDS, type CommandName, isCommandName } from '../../protocol/commands.ts';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import { connected, fillLogin, REFUSED } from '../support/clients/accounts.ts';
import { askApi } from '../support/clients/ask-api.ts';
import { visit } from '../support/clients/browser.ts';
import { openSse, type SseFrame } from '../support/clients/sse.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';

/** Stands in everything that is private. */
export const CANARY = 'canary';
const PASSWORD = 'correct horse';

export const isIdle = ({ data }: SseFrame) => data.type === 'ws_state' && data.state === 'idle';

interface Person {
  username: string;
  userId: string;
  jwt: string;
}

/** Listens to a daemon with other people's credentials, and keeps every byte that they are sent. */
export function secretTalks(daemon: DaemonUnderTest) {
  /** A connection that keeps every byte it was sent. */
  async function connect(jwt: string) {
    const client = await openClient(daemon.wsUrl, {});
    const bytes: Buffer[] = [];
    client.socket.on('message', (data: Buffer) => bytes.push(data));
    await client.call('connect', { ...CONNECT, auth: { token: jwt } });
    after(() => client.socket.terminate());
    return Object.assign(client, { text: () => Buffer.concat(bytes).toString() });
  }

  async function newPerson(
    { call }: Awaited<ReturnType<typeof connect>>,
    username: string,
    roles: readonly string[],
  ): Promise<Person> {
    const { userId } = (await call('user.create', {
      ...{ username, displayName: username, password: PASSWORD, roles },
    })) as Person;
    const { jwt } = (await call('auth.login', { username, password: PASSWORD })) as Person;
    return { username, userId, jwt };
  }

  const stream = (jwt: string, route: string) => openSse(new URL(`/v1/api/${route}`, daemon.url), { token: jwt });

  /** All connections and the stream of all states for a person. */
  async function listen({ jwt }: Person) {
    const socket = await connect(jwt);
    const states = await stream(jwt, 'events/global');
    after(() => states.close());
    return { socket, states, text: () => socket.text() + states.text() };
  }

  /** A browser with the page of a person. */
  async function hear(t: TestContext, { username }: Person) {
    const { page } = await visit(t, daemon, { loggedIn: false, expected: [REFUSED] });
    const received: string[] = [];
    // The browser keeps no body of redirects, and one that never ends is not waited for.
    page.on('response', (response) => {
      response
        .text()
        .then((text) => received.push(text))
        .catch(() => undefined);
    });
    page.on('websocket', (socket) => {
      socket.on('framereceived', ({ payload }) => received.push(String(payload)));
    });
    await fillLogin(page, username);
    await connected(page);
    return { page, text: () => received.join('\n') };
  }

  return { connect, newPerson, stream, listen, hear };
}

type Talks = ReturnType<typeof secretTalks>;
type Call = Awaited<ReturnType<Talks['connect']>>['call'];

/** What a person does in workstreams. */
export function deedsIn(daemon: DaemonUnderTest, { stream }: Pick<Talks, 'stream'>) {
  /** A conversation with everything that clients are told of: a tool's output, a file, a question, a queued message. */
  async function converse(call: Call, { wsId, jwt }: { wsId: string; jwt: string }): Promise<void> {
    await call('workstream.command', { wsId, command: `/name ${CANARY}-alias` });
    const form = new FormData();
    form.append('file', new Blob([`${CANARY} inside`], { type: 'text/plain' }), `${CANARY}-file.txt`);
    const upload = await daemon.fetch(`/v1/api/workstreams/${wsId}/attachments`, {
      ...{ method: 'POST', headers: { authorization: `Bearer ${jwt}` }, body: form },
    });
    assert.equal(upload.status, 200);
    const asked = await stream(jwt, `events?ws_id=${wsId}`);
    await call('workstream.send', { wsId, message: `read ${CANARY}.txt` });
    const read = await asked.until(isIdle);
    await call('workstream.send', { wsId, message: `write ${CANARY}-new.txt: ${CANARY}`, attachmentIds: 'pending' });
    await asked.until('approve_request');
    await call('workstream.send', { wsId, message: `say ${CANARY} later`, queue: true });
    await askApi(daemon, ['POST', `workstreams/${wsId}/approve`], { token: jwt, body: { approved: true } });
    await asked.until(isIdle, { after: read });
    await asked.close();
  }

  /** Enters every command in a workstream of everyone; returns those that were refused. */
  async function enterAll(call: Call, { wsId, jwt, hidden }: { wsId: string; jwt: string; hidden: string }) {
    const asked = await stream(jwt, `events?ws_id=${wsId}`);
    await call('workstream.send', { wsId, message: 'say hello' });
    let last = await asked.until(isIdle);
    const refused: string[] = [];
    for (const name of toOrder(Object.keys(COMMANDS).filter(isCommandName))) {
      const argument = name === 'resume' ? hidden.slice(0, 12) : (ARGUMENTS[name] ?? '');
      const { error } = (await call('workstream.command', { wsId, command: `/${name} ${argument}` })) as Told;
      if (error !== undefined) refused.push(name);
      else if (RUNNING.includes(name)) last = await asked.until(isIdle, { after: last });
    }
    await asked.close();
    return refused;
  }

  return { converse, enterAll };
}

interface Told {
  error?: string;
}

const ARGUMENTS: Partial<Record<CommandName, string>> = { name: 'commons', edit: 'say more', steer: 'say this' };
/** Commands after which the model answers. */
const RUNNING: readonly CommandName[] = ['retry', 'edit', 'steer'];
/** Commands after which there is nothing left for the others. */
const ENDING: readonly CommandName[] = ['new', 'clear', 'compact'];

const toOrder = (names: readonly CommandName[]): CommandName[] => [
  ...RUNNING,
  ...names.filter((name) => !RUNNING.includes(name) && !ENDING.includes(name)),
  ...ENDING,
];
