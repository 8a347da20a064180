import assert from 'node:assert/strict';
import type { GatewayClientOptions } from '../../../protocol/client/ws-client.ts';
import type { HelloOk } from '../../../protocol/connect.ts';
import { App } from './app.ts';
import { Appearance } from './appearance.ts';
import { snapshot } from './conversation/conversation-fixture.ts';
import { createFakeClient } from './fake-client.ts';
import { LoginError, NOT_LOGGED_IN } from './login.ts';

export const hello: HelloOk = {
  type: 'hello-ok',
  protocol: 2,
  server: { version: '1', connId: 'c' },
  features: { methods: [], events: [] },
  snapshot: { presence: [], health: {}, stateVersion: { presence: 0, health: 0 }, uptimeMs: 1 },
  policy: { maxPayload: 1, maxBufferedBytes: 1, tickIntervalMs: 30_000 },
};

/** For tests: the page’s state in a browser that the test controls. */
export function openApp({ authenticated = true, authEnabled = true, fragment = '', search = '' } = {}) {
  const fake = createFakeClient();
  const browser = {
    ...NOT_LOGGED_IN,
    authenticated,
    authEnabled,
    fragment,
    search,
    scopes: ['read', 'write', 'approve'],
  };
  /** How long the next password change takes. */
  const changes: Promise<void>[] = [];
  const stored = new Map<string, string>();
  const logins: unknown[] = [];
  /** How the next logouts fail. `isEnded`: the login has ended all the same. */
  const failedLogouts: { error: Error; isEnded?: boolean }[] = [];
  /** How long the next status answers take. */
  const statuses: Promise<void>[] = [];
  let onStatus: GatewayClientOptions['onStatus'];
  fake.answer('workstream.list', () => ({ workstreams: [snapshot().workstream] }));
  fake.answer('health', () => ({ version: '1', notices: [], store: { status: 'ok' } }));
  const app = new App({
    files: NO_FILES,
    login: {
      async status() {
        const answer = { ...browser };
        await statuses.shift();
        return answer;
      },
      async login(credential) {
        logins.push(credential);
        if (!('code' in credential) || credential.code !== 'good') throw new LoginError('refused');
        browser.authenticated = true;
      },
      async setUp(first) {
        logins.push(first);
        browser.authenticated = true;
      },
      async changePassword(change) {
        logins.push(change);
        await changes.shift();
      },
      async logout() {
        const failed = failedLogouts.shift();
        if (failed === undefined || failed.isEnded === true) browser.authenticated = false;
        if (failed) throw failed.error;
      },
    },
    openClient: (options) => {
      onStatus = options.onStatus;
      return fake.client;
    },
    schedule: (run) => run(),
    isVisible: () => true,
    memory: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => void stored.set(key, value),
    },
    lasting: { getItem: () => null, setItem: () => undefined },
    appearance: plainAppearance(),
    newKey: () => 'key',
    now: () => 0,
    timeZone: 'UTC',
    fragment: partOf(browser, 'fragment'),
    search: partOf(browser, 'search'),
  });
  const status: NonNullable<typeof onStatus> = (next) => onStatus?.(next);
  const phase = () => {
    const { value } = app.phase;
    return value.kind === 'login' ? [value.kind, value.problem] : [value.kind];
  };
  return { ...fake, app, browser, stored, logins, statuses, changes, failedLogouts, status, phase };
}

const NO_FILES = {
  pending: async () => [],
  upload: () => assert.fail('no upload'),
  importConversation: () => assert.fail('no import'),
  remove: async () => undefined,
};

const plainAppearance = () =>
  new Appearance({
    memory: { getItem: () => null, setItem: () => undefined },
    asksForContrast: () => false,
    apply: () => undefined,
  });

const partOf = <K extends string>(address: Record<K, string>, part: K) => ({
  read: () => address[part],
  clear: () => {
    address[part] = '';
  },
});

/** Everything that was answered has arrived. */
export const settled = () => new Promise(setImmediate);
