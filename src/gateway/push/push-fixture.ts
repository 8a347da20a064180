import assert from 'node:assert/strict';
import type { ParamsInput } from '../../../protocol/index.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { NodePairing } from '../../../protocol/methods/node.ts';
import { createPublicFetch, requirePublic } from '../../egress/public-fetch.ts';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir, tempStore } from '../../testing/temp-store.ts';
import { OPERATOR } from '../auth/lineage.ts';
import type { Principal } from '../auth/principal.ts';
import type { Call } from '../call.ts';
import { createPushBrowser } from '../testing/push-browser.ts';
import { testAccounts } from '../testing/test-accounts.ts';
import { Push } from './push-noun.ts';

const START_MS = 1_800_000_000_000;
export const HIDDEN = 'kestrel-harbour';
export type Asking = Parameters<Push['asked']>[0];
export const TITLE = 'The agent asks before it acts';
export const SHARED: Asking = { ownerId: '', visibility: 'shared', title: null, name: 'the place' };
export const APPROVAL: Approval = {
  ...{ approvalId: 'apr_1', wsId: 'w1', sessionKey: 'main', kind: 'tools', expiresAtMs: START_MS + 3_600_000 },
  items: [
    {
      ...{ call_id: 'c', header: `bash ${HIDDEN}`, preview: `rm ${HIDDEN}`, func_name: 'bash', approval_label: 'bash' },
      ...{ needs_approval: true, error: null },
    },
  ],
};

/** A home, and what the daemon’s side of notifications needs of it. */
async function openHome({ answers, delayMs }: { answers: Response[]; delayMs: number }) {
  const clock = fakeClock(START_MS);
  const store = await tempStore({ clock });
  const home = tempDir();
  const log = recordingLog();
  const accounts = await testAccounts({ store, dir: home.path, clock, log });
  const received: { url: string; headers: Headers; text: string | undefined }[] = [];
  const browser = createPushBrowser('https://push.example.com/send/secret-path');
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    const body = init.body instanceof Uint8Array ? init.body : new Uint8Array();
    received.push({ url, headers, text: browser.open(headers, body) });
    return answers.shift() ?? new Response(null, { status: 201 });
  };
  const requests: NodePairing[] = [];
  const deps = {
    ...{ store, requests: { list: () => requests }, servers: () => [{ server: 'notes' }] },
    services: {
      settings: () => ({ delayMs, contact: 'mailto:ada@example.org', ntfy: new Map(), webhooks: new Map() }),
      fetch,
      publicFetch: createPublicFetch(fetch, () => []),
      requirePublic: (address: string) => requirePublic(address, []),
      holders: accounts.holders,
      home: home.path,
    },
    ...{ holders: accounts.holders, url: () => 'https://headgate.example', clock, ids: randomIds, log },
  };
  return { clock, store, home, log, accounts, received, browser, requests, deps };
}

/** A browser, logged in by a link, and the daemon’s side of its notifications. `answers`: of the push server, in order. */
export async function pushFixture({ answers = [] as Response[], delayMs = 0 } = {}) {
  const { clock, store, home, log, accounts, received, browser, requests, deps } = await openHome({ answers, delayMs });
  let push = new Push(deps);
  const { principal } = await accounts.sessions.start(OPERATOR);
  const opening: Pick<Call, 'principal'> = { principal };
  await push.methods['push.list']({}, opening as Call); // makes the keys, which takes a while
  const records: unknown[] = [];
  /** A handler that does not ask for its records is recorded anyway. */
  const audited: Call['audited'] = (detail) => {
    records.push(detail);
    return [];
  };
  const callBy = (by: Principal = principal): Call => ({
    ...{ principal: by, signal: new AbortController().signal, address: '', kept: undefined, link: undefined },
    ...{ subscriptions: undefined, keep: () => [], audited, interim: () => undefined },
    ...{ momentary: () => undefined, perform: () => assert.fail('no other call') },
  });
  return {
    ...{ clock, store, log, accounts, received, principal, callBy, browser, records, requests },
    get push() {
      return push;
    },
    subscribe: (more: Partial<ParamsInput<'push.subscribe'>> = {}, by = principal) =>
      push.methods['push.subscribe']({ ...browser.subscription, ...more }, callBy(by)),
    list: async (by = principal) => (await push.methods['push.list']({}, callBy(by))).subscriptions,
    async asks(of: Asking = SHARED, approval = APPROVAL) {
      push.asked(of, approval);
      await settled();
      await clock.advance(0); // the delay
      await settled();
    },
    /** Something besides questions may have begun or ended to wait. */
    async looks() {
      push.look();
      await settled();
      await clock.advance(0); // the delay
      await settled();
    },
    /** Another process with the same home and store. */
    async restart() {
      await push.close();
      push = new Push(deps);
      await push.methods['push.list']({}, opening as Call); // reads the keys
    },
    async decides(approvalId = 'apr_1') {
      push.decided(approvalId);
      await settled();
    },
    /** Now the next attempt is due. */
    async later() {
      await clock.advance(60_000);
      await settled();
    },
    async logOut() {
      assert.ok(principal.source.kind === 'login');
      await accounts.sessions.revoke(principal.source.jti);
    },
    texts: () => received.map(({ text }) => text && JSON.parse(text)),
    async [Symbol.asyncDispose]() {
      await push.close();
      await store.close();
      home[Symbol.dispose]();
    },
  };
}

export type World = Awaited<ReturnType<typeof pushFixture>>;

/** What was begun has been sent: the store is local, and `fetch` answers at once. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
}
